/* SPDX-License-Identifier: Apache-2.0
 *
 * The GPUs of a world; see gpus.h.
 */
#include "harness/judge/gpus.h"

#include <stdlib.h>

static pkb_code find(pkb_judge_gpus *gpus, const char *list, uint32_t rank, uint32_t world,
                     pkb_error *err)
{
    pkb_code rc = PKB_OK;

    if ((rc = pkb_driver_open(&gpus->driver, err)) != PKB_OK ||
        (rc = pkb_gpus_find(&gpus->all, gpus->driver, err)) != PKB_OK ||
        (rc = pkb_gpu_choose(&gpus->choice, &gpus->all, list, world, err)) != PKB_OK ||
        (rc = pkb_gpu_check_peers(gpus->driver, &gpus->choice, err)) != PKB_OK)
        return rc;
    for (size_t i = 0; i < gpus->choice.count; i++)
        gpus->minors[i] = gpus->all.items[gpus->choice.indices[i]].minor;
    gpus->shown = (pkb_sandbox_gpus){.minors = gpus->minors,
                                     .count = gpus->choice.count,
                                     .driver_folder = pkb_driver_folder(gpus->driver)};
    pkb_gpu_visible(gpus->visible, &gpus->all, &gpus->choice, rank);
    return PKB_OK;
}

pkb_code pkb_judge_gpus_open(pkb_judge_gpus **out, const pkb_judge_device **device,
                             const char *list, uint32_t rank, uint32_t world, pkb_error *err)
{
    pkb_judge_gpus *gpus = calloc(1, sizeof *gpus);
    pkb_code rc = PKB_OK;

    if (gpus == NULL)
        return pkb_error_set(err, PKB_ERR_MEMORY, 0, "out of memory for a list of GPUs");
    rc = find(gpus, list, rank, world, err);
    if (rc == PKB_OK)
        rc = pkb_judge_device_cuda(device, gpus->driver, gpus->choice.indices[rank], err);
    if (rc == PKB_OK) {
        *out = gpus;
        gpus = NULL;
    }
    pkb_judge_gpus_close(gpus);
    return rc;
}

void pkb_judge_gpus_close(pkb_judge_gpus *gpus)
{
    if (gpus == NULL)
        return;
    pkb_judge_device_cuda_close();
    pkb_driver_close(gpus->driver);
    free(gpus);
}
