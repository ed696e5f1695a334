/* SPDX-License-Identifier: Apache-2.0
 *
 * Opens a size: how many slots and draws, regions, peers' descriptors, the runner's draws and
 * expectations. All before a cell of the attempt exists.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/stats.h"
#include "harness/judge/judge.h"

enum { MIN_TRIALS = 3, SLOT_COUNT_CPU = 4 };

static uint64_t available_bytes(void)
{
    char line[128];
    uint64_t available_kib = 0;
    FILE *file = fopen("/proc/meminfo", "re");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "MemAvailable: %" SCNu64, &available_kib) == 1)
            break;
    if (file != NULL)
        fclose(file);
    return available_kib * 1024;
}

/* The k-th choice of how many trials and slots a size gets: first fewer slots, then fewer trials
 * (which are one a family at best). False when there is none left. */
static bool choice(uint32_t k, uint32_t families, uint32_t *trial_count, uint32_t *slot_count)
{
    *trial_count = k < SLOT_COUNT_CPU && families > MIN_TRIALS ? families : MIN_TRIALS;
    *slot_count = SLOT_COUNT_CPU - k % SLOT_COUNT_CPU;
    return k < 2 * SLOT_COUNT_CPU;
}

static pkb_code place(pkb_layout *layout, uint32_t trial_count, uint32_t slot_count, pkb_error *err)
{
    layout->slot_count = slot_count;
    layout->entry_count = trial_count + slot_count;
    return pkb_layout_place(layout, err);
}

/* The first choice that fits into `budget` bytes. */
static pkb_code first_fit(pkb_layout *layout, uint32_t families, uint64_t budget, uint32_t *out,
                          pkb_error *err)
{
    uint32_t trial_count = 0, slot_count = 0;
    for (uint32_t k = 0; choice(k, families, &trial_count, &slot_count); k++) {
        pkb_code rc = place(layout, trial_count, slot_count, err);
        if (rc != PKB_OK)
            return rc;
        if (pkb_memory_needed_bytes(layout) <= budget) {
            *out = k;
            return PKB_OK;
        }
    }
    return pkb_error_set(err, PKB_ERR_MEMORY, 0,
                         "the size needs %" PRIu64 " MiB a rank, %" PRIu64 " MiB are to be had",
                         pkb_memory_needed_bytes(layout) >> 20, budget >> 20);
}

/* Half of what is free is for slots and pool; attempt, reference and system take the rest. All
 * ranks agree on the choice of the one that has least room. */
static pkb_code choose_counts(pkb_judge *judge, const pkb_plan_size *size, pkb_layout *layout,
                              pkb_error *err)
{
    uint64_t budget = available_bytes() / 2 / judge->options.world, all[PKB_MAX_RANKS];
    uint32_t k = 0, slot_count = 0, families = (uint32_t)size->family_count;
    pkb_code rc = first_fit(layout, families, budget, &k, err);

    if (rc == PKB_OK)
        rc = pkb_judge_world_share(&judge->world, k, all, err);
    if (rc != PKB_OK)
        return rc;
    for (uint32_t rank = 0; rank < judge->options.world; rank++)
        if (all[rank] > k)
            k = (uint32_t)all[rank];
    choice(k, families, &judge->trial_count, &slot_count);
    return place(layout, judge->trial_count, slot_count, err);
}

static pkb_code open_memory(pkb_judge *judge, const pkb_plan_size *size, pkb_error *err)
{
    pkb_layout layout = size->layout;
    pkb_code rc = PKB_OK;

    pkb_memory_free(judge->memory);
    judge->memory = NULL;
    judge->size = NULL;
    if ((rc = choose_counts(judge, size, &layout, err)) != PKB_OK ||
        (rc = pkb_memory_create(&judge->memory, &layout, pkb_random_next(&judge->own_random),
                                err)) != PKB_OK)
        return rc;
    const int mine[2] = {judge->memory->slots.fd, judge->memory->symmetric.fd};
    rc = pkb_meeting_exchange(&judge->meeting, mine, judge->memory->arenas, &judge->watch, err);
    if (rc == PKB_OK)
        rc = pkb_runner_open(judge->runner, judge->plan, size, judge->memory, judge->secret, err);
    if (rc == PKB_OK)
        judge->size = size;
    return rc;
}

/* Families in turn. Collective: the reference is. */
static pkb_code draw_all(pkb_judge *judge, pkb_error *err)
{
    pkb_code rc = PKB_OK;
    uint32_t families = (uint32_t)judge->size->family_count;
    for (uint32_t entry = 0; rc == PKB_OK && entry < judge->memory->layout.entry_count; entry++) {
        rc = pkb_runner_draw(judge->runner, judge->memory, judge->size, entry, judge->next_trial++,
                             entry % families, err);
        if (rc == PKB_OK)
            rc = pkb_runner_expect(judge->runner, entry, err);
    }
    judge->has_fresh_draws = rc == PKB_OK;
    return rc;
}

pkb_code pkb_judge_prepare(pkb_judge *judge, const pkb_plan_size *size, pkb_error *err)
{
    pkb_code rc = PKB_OK;
    if (judge->size == size && judge->has_fresh_draws)
        return PKB_OK;
    if (judge->size != size)
        rc = open_memory(judge, size, err);
    return rc != PKB_OK ? rc : draw_all(judge, err);
}
