/* SPDX-License-Identifier: Apache-2.0
 *
 * Paired batches of reference and attempt in the same slots, on the judge's clock. On the CPU
 * device a few short ones: shown, never scored. Calls of a timed batch are compared like any other.
 */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/stats.h"
#include "harness/judge/attempt.h"
#include "harness/judge/outputs.h"

enum { PAIR_COUNT_CPU = 4 };
/* Once this is used up, no further pair begins. */
#define BUDGET_NS (3 * PKB_NS_PER_S)

/* Slot i holds entry entries[i]; a new order each time, the same on all ranks. */
typedef struct batch {
    uint32_t count, slots[PKB_MAX_SLOTS], entries[PKB_MAX_SLOTS];
} batch;

static void shuffle(uint64_t *random, uint32_t *items, uint32_t count)
{
    for (uint32_t i = count; i-- > 1;) {
        uint32_t j = (uint32_t)(pkb_random_next(random) % (i + 1)), item = items[i];
        items[i] = items[j];
        items[j] = item;
    }
}

static void batch_draw(pkb_attempt *attempt, batch *b)
{
    pkb_judge *judge = attempt->judge;
    uint32_t entries[PKB_MAX_SLOTS + PKB_MAX_FAMILIES];
    const pkb_layout *layout = &judge->memory->layout;

    b->count = layout->slot_count;
    for (uint32_t i = 0; i < layout->entry_count; i++)
        entries[i] = i;
    for (uint32_t i = 0; i < b->count; i++)
        b->slots[i] = i;
    shuffle(&judge->shared_random, entries, layout->entry_count);
    shuffle(&judge->shared_random, b->slots, b->count);
    for (uint32_t i = 0; i < b->count; i++)
        b->entries[i] = entries[i % layout->entry_count];
}

static pkb_code batch_load(pkb_attempt *attempt, const batch *b, pkb_error *err)
{
    for (uint32_t i = 0; i < b->count; i++)
        pkb_memory_load(attempt->judge->memory, b->slots[i], b->entries[i],
                        pkb_attempt_key(attempt));
    return attempt->judge->device->synchronise(err);
}

static pkb_code time_reference(pkb_attempt *attempt, const batch *b, uint64_t *all_ns,
                               pkb_error *err)
{
    pkb_judge *judge = attempt->judge;
    uint64_t took_ns = 0;
    pkb_code rc = PKB_OK;

    if ((rc = batch_load(attempt, b, err)) != PKB_OK ||
        (rc = pkb_runner_batch(judge->runner, b->slots, b->entries, b->count, err)) != PKB_OK ||
        (rc = pkb_judge_world_barrier(&judge->world, err)) != PKB_OK ||
        (rc = pkb_runner_batch_run(judge->runner, &took_ns, err)) != PKB_OK ||
        (rc = pkb_runner_batch_end(judge->runner, err)) != PKB_OK)
        return rc;
    return pkb_judge_world_share(&judge->world, took_ns, all_ns, err);
}

static void verify_batch(pkb_attempt *attempt, const batch *b)
{
    const pkb_memory *memory = attempt->judge->memory;
    pkb_memory_verify_guards(memory, &attempt->finding);
    for (uint32_t i = 0; i < b->count; i++) {
        uint32_t slot = b->slots[i];
        const pkb_outputs_place place = {.image = pkb_memory_slot(memory, slot),
                                         .entry = b->entries[i],
                                         .poison_key = memory->loads[slot].poison_key,
                                         .phase = "pkb_run, timed batch",
                                         .comment = "",
                                         .past = attempt->past,
                                         .past_count = attempt->past_count};
        pkb_memory_verify_inputs(memory, slot, &attempt->finding);
        pkb_outputs_compare(memory, attempt->judge->size, &place, &attempt->finding);
    }
}

/* Sent while the cell goes on after being stopped: it claims the device, untimed. */
static pkb_code claim(pkb_attempt *attempt, pkb_error *err)
{
    const pkb_cell_request request = {.command = PKB_COMMAND_CLAIM};
    pkb_cell_continue(attempt->cell);
    return pkb_cell_do(attempt->cell, &request, NULL, &attempt->finding, err);
}

/* Ends with attempt->worst set; all_ns counts only where it is clean. */
static pkb_code time_attempt(pkb_attempt *attempt, const batch *b, uint64_t *all_ns, pkb_error *err)
{
    pkb_judge *judge = attempt->judge;
    uint64_t took_ns = 0;
    bool is_clean = false;
    const pkb_cell_request request = {.command = PKB_COMMAND_RUN,
                                      .step = "timed batch",
                                      .call_count = b->count,
                                      .slots = b->slots};
    pkb_code rc = PKB_OK;

    if ((rc = batch_load(attempt, b, err)) != PKB_OK || (rc = claim(attempt, err)) != PKB_OK ||
        (rc = pkb_attempt_settle(attempt, &is_clean, err)) != PKB_OK || !is_clean ||
        (rc = pkb_cell_do(attempt->cell, &request, &took_ns, &attempt->finding, err)) != PKB_OK)
        return rc;
    pkb_cell_stop(attempt->cell, &attempt->finding);
    if ((rc = pkb_judge_world_share(&judge->world, took_ns, all_ns, err)) != PKB_OK)
        return rc;
    if (!pkb_judge_world_is_aborted(&judge->world))
        verify_batch(attempt, b);
    return pkb_attempt_settle(attempt, &is_clean, err);
}

static pkb_code time_pair(pkb_attempt *attempt, pkb_batch_pair *pair, pkb_error *err)
{
    batch b;
    pkb_code rc = PKB_OK;

    batch_draw(attempt, &b);
    pair->is_attempt_first = pkb_random_next(&attempt->judge->shared_random) % 2 != 0;
    if (!pair->is_attempt_first &&
        (rc = time_reference(attempt, &b, pair->reference_ns, err)) != PKB_OK)
        return rc;
    rc = time_attempt(attempt, &b, pair->attempt_ns, err);
    if (rc == PKB_OK && pair->is_attempt_first && pkb_finding_is_clean(&attempt->worst))
        rc = time_reference(attempt, &b, pair->reference_ns, err);
    return rc;
}

/* Whether all ranks agree that there is time for another pair. */
static pkb_code has_budget(pkb_attempt *attempt, uint64_t begin_ns, bool *out, pkb_error *err)
{
    uint64_t all[PKB_MAX_RANKS];
    uint64_t is_over = pkb_clock_now_ns() - begin_ns > BUDGET_NS;
    pkb_code rc = pkb_judge_world_share(&attempt->judge->world, is_over, all, err);
    *out = rc == PKB_OK && all[0] == 0;
    return rc;
}

pkb_code pkb_timing_run(pkb_attempt *attempt, pkb_size_result *result, pkb_error *err)
{
    uint64_t begin_ns = pkb_clock_now_ns();
    bool goes_on = true;
    pkb_code rc =
        pkb_control_progress(&attempt->judge->control, attempt->judge->size->name, "time", err);

    result->calls = attempt->judge->memory->layout.slot_count;
    while (rc == PKB_OK && goes_on && result->pair_count < PAIR_COUNT_CPU) {
        rc = time_pair(attempt, &result->pairs[result->pair_count], err);
        if (rc != PKB_OK || !pkb_finding_is_clean(&attempt->worst))
            break;
        result->pair_count++;
        rc = has_budget(attempt, begin_ns, &goes_on, err);
    }
    pkb_cell_continue(attempt->cell);
    return rc;
}
