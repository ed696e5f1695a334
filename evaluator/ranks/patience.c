/* SPDX-License-Identifier: Apache-2.0
 *
 * Limits by cost; see patience.h.
 */
#include "evaluator/ranks/patience.h"

#include <sched.h>

/* A plain GEMM reaches 3e8 flop a second and core; the least that is to be expected. */
#define LEAST_PER_SECOND 1e8
#define LONGEST_S 3600.0

enum { CALLS_OF_A_STEP = 4 };

static double number_of(const cJSON *cost, const char *name)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(cost, name);
    return cJSON_IsNumber(item) && item->valuedouble > 0 ? item->valuedouble : 0;
}

double pkb_patience_s(const cJSON *size, int world, int cores, double base_s)
{
    const cJSON *cost = cJSON_GetObjectItemCaseSensitive(size, "cost");
    const double work = number_of(cost, "flop") + number_of(cost, "hbm_bytes");
    const double sharing = world > cores ? (double)world / cores : 1;
    /* A plain kernel does the work of all ranks on each of them. */
    const double seconds = base_s + CALLS_OF_A_STEP * work * world * sharing / LEAST_PER_SECOND;

    if (seconds < LONGEST_S)
        return seconds;
    return base_s > LONGEST_S ? base_s : LONGEST_S;
}

cJSON *pkb_patience_of_plan(const cJSON *plan, int world, double base_s)
{
    cpu_set_t usable;
    const int cores = sched_getaffinity(0, sizeof usable, &usable) == 0 ? CPU_COUNT(&usable) : 1;
    cJSON *all = cJSON_CreateArray();
    const cJSON *size = NULL;

    cJSON_ArrayForEach(size, cJSON_GetObjectItemCaseSensitive(plan, "sizes"))
        cJSON_AddItemToArray(all, cJSON_CreateNumber(pkb_patience_s(size, world, cores, base_s)));
    return all;
}
