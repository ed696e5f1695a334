/* SPDX-License-Identifier: Apache-2.0
 *
 * Which rank gets which GPU; see gpu.h. Asks no driver.
 */
#include "harness/cuda/gpu.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- "0,2-3" ---- */

static bool parse_index(const char **text, int *out)
{
    char *end = NULL;
    long value = **text >= '0' && **text <= '9' ? strtol(*text, &end, 10) : -1;

    if (value < 0 || value >= PKB_MAX_GPUS)
        return false;
    *out = (int)value;
    *text = end;
    return true;
}

static bool append(pkb_gpu_choice *choice, int index)
{
    for (size_t i = 0; i < choice->count; i++) {
        if (choice->indices[i] == index)
            return false;
    }
    choice->indices[choice->count++] = index; /* each at most once: never more than fit */
    return true;
}

static bool parse_list(pkb_gpu_choice *out, const char *text)
{
    for (;;) {
        int first, last;
        if (!parse_index(&text, &first))
            return false;
        last = first;
        if (*text == '-') {
            text++;
            if (!parse_index(&text, &last) || last < first)
                return false;
        }
        for (int index = first; index <= last; index++) {
            if (!append(out, index))
                return false;
        }
        if (*text == '\0')
            return true;
        if (*text++ != ',')
            return false;
    }
}

pkb_code pkb_gpu_choice_parse(pkb_gpu_choice *out, const char *list, pkb_error *err)
{
    *out = (pkb_gpu_choice){0};
    if (!parse_list(out, list))
        return pkb_error_set(err, PKB_ERR_USAGE, 0,
                             "--gpus wants GPUs by number, each once, such as 0,1 or 0-3, not '%s'",
                             list);
    return PKB_OK;
}

/* ---- one a rank ---- */

static pkb_code check(const pkb_gpu_choice *choice, const pkb_gpus *gpus, size_t world,
                      pkb_error *err)
{
    if (choice->count < world)
        return pkb_error_set(err, PKB_ERR_USAGE, 0,
                             "%zu ranks need a GPU each, and there %s %zu: pass -n %zu, or use "
                             "--device cpu",
                             world, choice->count == 1 ? "is" : "are", choice->count,
                             choice->count);
    for (size_t i = 0; i < world; i++) {
        const int index = choice->indices[i], first = choice->indices[0];
        if ((size_t)index >= gpus->count)
            return pkb_error_set(err, PKB_ERR_USAGE, 0,
                                 "there is no GPU %d: this machine shows %zu, numbered from 0",
                                 index, gpus->count);
        if (strcmp(gpus->items[index].name, gpus->items[first].name) != 0)
            return pkb_error_set(err, PKB_ERR_USAGE, 0,
                                 "GPU %d is a %s and GPU %d a %s: choose GPUs of one kind with "
                                 "--gpus",
                                 first, gpus->items[first].name, index, gpus->items[index].name);
    }
    return PKB_OK;
}

pkb_code pkb_gpu_choose(pkb_gpu_choice *out, const pkb_gpus *gpus, const char *list, size_t world,
                        pkb_error *err)
{
    pkb_gpu_choice choice = {0};
    pkb_code rc = PKB_OK;

    if (list != NULL)
        rc = pkb_gpu_choice_parse(&choice, list, err);
    for (size_t i = 0; list == NULL && i < gpus->count; i++)
        append(&choice, (int)i);
    if (rc == PKB_OK)
        rc = check(&choice, gpus, world, err);
    if (rc != PKB_OK)
        return rc;
    choice.count = world;
    *out = choice;
    return PKB_OK;
}

/* ---- in words ---- */

void pkb_gpu_choice_text(char out[PKB_GPU_TEXT_BYTES], const pkb_gpu_choice *choice)
{
    size_t used = 0;

    out[0] = '\0';
    for (size_t i = 0; i < choice->count; i++)
        used += (size_t)snprintf(out + used, PKB_GPU_TEXT_BYTES - used, "%s%d", i > 0 ? "," : "",
                                 choice->indices[i]);
}

void pkb_gpu_visible(char out[PKB_GPU_TEXT_BYTES], const pkb_gpus *gpus,
                     const pkb_gpu_choice *choice, size_t rank)
{
    size_t used = (size_t)snprintf(out, PKB_GPU_TEXT_BYTES, "CUDA_VISIBLE_DEVICES=%s",
                                   gpus->items[choice->indices[rank]].uuid);

    for (size_t q = 0; q < choice->count; q++) {
        if (q != rank)
            used += (size_t)snprintf(out + used, PKB_GPU_TEXT_BYTES - used, ",%s",
                                     gpus->items[choice->indices[q]].uuid);
    }
}

void pkb_gpu_architecture(char *out, size_t bytes, int capability)
{
    enum { FIRST_WITH_OWN_FEATURES = 90 };
    snprintf(out, bytes, "%d%s", capability, capability >= FIRST_WITH_OWN_FEATURES ? "a" : "");
}
