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

#define SYMMETRIC_LEAST_BYTES (UINT64_C(256) << 20)
#define SYMMETRIC_ALIGN (UINT64_C(2) << 20)

enum { MIN_TRIALS = 3, MAX_CHAIN = 8, MAX_TIMED_SLOTS = PKB_MAX_SLOTS };

typedef struct counts {
    uint32_t trials, slots, chain;
} counts;

typedef struct counts_plan {
    uint32_t families, top;
} counts_plan;

static uint64_t symmetric_bytes_for(uint64_t slot_bytes, uint64_t top)
{
    uint64_t bytes =
        2 * slot_bytes > SYMMETRIC_LEAST_BYTES ? 2 * slot_bytes : SYMMETRIC_LEAST_BYTES;
    bytes = (bytes + SYMMETRIC_ALIGN - 1) / SYMMETRIC_ALIGN * SYMMETRIC_ALIGN;
    return bytes < top ? bytes : top;
}

/* How many slots are best: as many as the device wants, more where they are small. */
static uint32_t most_slots(const pkb_judge_device *device, const pkb_layout *layout)
{
    uint64_t count = layout->slot_stride == 0 ? 0 : device->footprint / layout->slot_stride;
    if (count < device->slot_count)
        count = device->slot_count;
    return count > MAX_TIMED_SLOTS ? MAX_TIMED_SLOTS : (uint32_t)count;
}

/* The k-th choice of how many trials and slots a size gets: first fewer slots, then fewer trials
 * (which are one a family at best). False when there is none left. */
static bool choice(uint32_t k, uint32_t families, uint32_t top, counts *out)
{
    uint32_t steps = 1;
    while (top >> steps != 0)
        steps++;
    out->trials = k < steps && families > MIN_TRIALS ? families : MIN_TRIALS;
    out->slots = top >> k % steps;
    out->chain = out->slots < MAX_CHAIN ? out->slots : MAX_CHAIN;
    return k < 2 * steps;
}

static pkb_code place(const pkb_judge_device *device, pkb_layout *layout, const counts *wanted,
                      pkb_error *err)
{
    layout->slot_count = wanted->slots;
    /* One chain on all its slots leaves the other two calls, or one. */
    layout->entry_count = wanted->trials + wanted->chain + (wanted->chain < 2 ? wanted->chain : 2);
    pkb_code rc = pkb_layout_place(layout, err);
    if (rc != PKB_OK || device->is_sparse)
        return rc;
    layout->symmetric_bytes = symmetric_bytes_for(layout->slot_stride, device->symmetric_top);
    return pkb_layout_place(layout, err);
}

/* The first choice that needs no more than enough; or the last, if it fits into `budget` bytes. */
static pkb_code first_fit(const pkb_judge_device *device, pkb_layout *layout,
                          const counts_plan *plan, uint64_t budget, uint32_t *out, pkb_error *err)
{
    const uint64_t enough =
        device->enough_bytes != 0 && device->enough_bytes < budget ? device->enough_bytes : budget;
    counts wanted = {0};
    uint64_t needed = 0;

    for (uint32_t k = 0; choice(k, plan->families, plan->top, &wanted); k++) {
        pkb_code rc = place(device, layout, &wanted, err);
        if (rc != PKB_OK)
            return rc;
        needed = pkb_memory_needed_bytes(layout, device->is_sparse);
        *out = k;
        if (needed <= enough)
            return PKB_OK;
    }
    if (needed <= budget)
        return PKB_OK;
    return pkb_error_set(err, PKB_ERR_MEMORY, 0,
                         "the size needs %" PRIu64 " MiB a rank, %" PRIu64 " MiB are to be had",
                         needed >> 20, budget >> 20);
}

/* All ranks agree on the choice of the one that has least room. */
static pkb_code choose_counts(pkb_judge *judge, const pkb_plan_size *size, pkb_layout *layout,
                              pkb_error *err)
{
    const pkb_judge_device *device = judge->device;
    uint64_t budget = device->available_bytes(judge->options.world), all[PKB_MAX_RANKS];
    counts_plan plan = {.families = (uint32_t)size->family_count};
    counts wanted = {.trials = MIN_TRIALS, .slots = 1, .chain = 1};
    uint32_t k = 0;
    pkb_code rc = place(device, layout, &wanted, err);

    plan.top = most_slots(device, layout);
    if (rc == PKB_OK)
        rc = first_fit(device, layout, &plan, budget, &k, err);
    if (rc == PKB_OK)
        rc = pkb_judge_world_share(&judge->world, k, all, err);
    if (rc != PKB_OK)
        return rc;
    for (uint32_t rank = 0; rank < judge->options.world; rank++)
        if (all[rank] > k)
            k = (uint32_t)all[rank];
    choice(k, plan.families, plan.top, &wanted);
    judge->trial_count = wanted.trials;
    judge->chain_slot_count = wanted.chain;
    return place(device, layout, &wanted, err);
}

pkb_code pkb_judge_drop_size(pkb_judge *judge, pkb_error *err)
{
    const bool was_open = judge->memory != NULL;
    pkb_memory_free(judge->memory);
    judge->memory = NULL;
    judge->size = NULL;
    return was_open && judge->runner != NULL ? pkb_runner_release(judge->runner, err) : PKB_OK;
}

static pkb_code open_memory(pkb_judge *judge, const pkb_plan_size *size, pkb_error *err)
{
    pkb_layout layout = size->layout;
    pkb_code rc = PKB_OK;

    if ((rc = pkb_judge_drop_size(judge, err)) != PKB_OK ||
        (rc = pkb_judge_world_barrier(&judge->world, err)) != PKB_OK || /* peers hold it too */
        (rc = choose_counts(judge, size, &layout, err)) != PKB_OK ||
        (rc = pkb_memory_create(&judge->memory, judge->device, &layout,
                                pkb_random_next(&judge->own_random), err)) != PKB_OK)
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
