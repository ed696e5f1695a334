/* SPDX-License-Identifier: Apache-2.0
 *
 * Chooses and names GPUs; see gpus.h. The driver is asked here and left again: no context, so no
 * memory of a GPU is used by the evaluator.
 */
#include "evaluator/machine/gpus.h"

#include <stdio.h>
#include <string.h>

#include "harness/cuda/driver.h"
#include "harness/cuda/nvml.h"

/* Pairs of the world that reach each other through NVLink. */
static size_t count_linked(const pkb_nvml *nvml, const pkb_gpus *gpus, const pkb_gpu_choice *choice)
{
    size_t linked = 0;
    for (size_t a = 0; a < choice->count; a++)
        for (size_t b = a + 1; b < choice->count; b++)
            linked += pkb_nvml_has_nvlink(nvml, gpus->items[choice->indices[a]].bus_id,
                                          gpus->items[choice->indices[b]].bus_id);
    return linked;
}

static void name_link(pkb_eval_gpus *out, const pkb_nvml *nvml, const pkb_gpus *gpus,
                      const pkb_gpu_choice *choice)
{
    const char *first = gpus->items[choice->indices[0]].bus_id;
    const size_t linked = count_linked(nvml, gpus, choice);
    int links = 0;

    if (choice->count < 2)
        return;
    if (linked == 0)
        snprintf(out->link, sizeof out->link, "PCIe");
    else if (linked < choice->count * (choice->count - 1) / 2)
        snprintf(out->link, sizeof out->link, "NVLink and PCIe");
    else if (pkb_nvml_link_count(nvml, first, &links) && links > 0)
        snprintf(out->link, sizeof out->link, "NVLink x %d", links);
    else
        snprintf(out->link, sizeof out->link, "NVLink");
}

static void name_all(pkb_eval_gpus *out, const pkb_driver *driver, const pkb_gpus *gpus,
                     const pkb_gpu_choice *choice)
{
    const pkb_gpu *first = &gpus->items[choice->indices[0]];
    const int version = pkb_driver_version(driver);
    pkb_nvml *nvml = NULL;

    out->count = choice->count;
    memcpy(out->name, first->name, sizeof out->name);
    snprintf(out->version, sizeof out->version, "%d.%d", version / 1000 % 100, version % 1000 / 10);
    pkb_gpu_choice_text(out->list, choice);
    pkb_gpu_architecture(out->architecture, sizeof out->architecture, first->capability);
    if (pkb_nvml_open(&nvml, NULL) == PKB_OK) {
        pkb_nvml_driver_version(nvml, out->driver, sizeof out->driver);
        name_link(out, nvml, gpus, choice);
    }
    pkb_nvml_close(nvml);
}

pkb_code pkb_eval_gpus_choose(pkb_eval_gpus *out, const char *list, int world, pkb_error *err)
{
    static pkb_gpus gpus;
    pkb_gpu_choice choice;
    pkb_driver *driver = NULL;

    *out = (pkb_eval_gpus){0};
    pkb_code rc = pkb_driver_open(&driver, err);
    if (rc == PKB_OK)
        rc = pkb_gpus_find(&gpus, driver, err);
    if (rc == PKB_OK)
        rc = pkb_gpu_choose(&choice, &gpus, list, (size_t)world, err);
    if (rc == PKB_OK)
        rc = pkb_gpu_check_peers(driver, &choice, err);
    if (rc == PKB_OK)
        name_all(out, driver, &gpus, &choice);
    pkb_driver_close(driver);
    return rc;
}
