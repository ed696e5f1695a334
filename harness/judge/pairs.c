/* SPDX-License-Identifier: Apache-2.0
 *
 * Paired batches of reference and attempt in the same slots, in random balanced order, until the
 * speed-up is known well enough. On the CPU device a few short ones: shown, never scored.
 */
#include <string.h>

#include "base/clock.h"
#include "base/stats.h"
#include "harness/judge/batch.h"
#include "harness/judge/quiet.h"
#include "harness/judge/timing.h"

enum {
    PAIRS_SHOWN = 3, /* where the speed is not scored */
    FIRST_CALLS = 4,
    CALIBRATIONS = 6 /* at most; the first one warms up */
};
/* Once this is used up, no further pair begins. */
#define BUDGET_CPU_NS (3 * PKB_NS_PER_S)
#define BUDGET_GPU_NS (2 * PKB_NS_PER_S)
/* A batch lasts about this long where there are slots enough. Starting and stopping one costs 0.2
 * ms, and 0.13 ms more in the reference's process (measured, results/published/h200-x2): where
 * speed is scored that is to stay under 0.3 %. */
#define BATCH_SCORED_NS (50 * PKB_NS_PER_MS)
#define BATCH_SHOWN_NS (5 * PKB_NS_PER_MS)

static bool is_gpu(const pkb_attempt *attempt)
{
    return attempt->judge->device->sample_take != NULL;
}

static bool is_scored(const pkb_attempt *attempt)
{
    return is_gpu(attempt) && strcmp(attempt->judge->size->class_name, "tiny") != 0;
}

static bool is_going_well(const pkb_attempt *attempt)
{
    return pkb_finding_is_clean(&attempt->worst) && !attempt->loud.is_heard;
}

/* ---- how many calls ---- */

static uint64_t batch_ns_of(const pkb_attempt *attempt)
{
    return is_scored(attempt) ? BATCH_SCORED_NS : BATCH_SHOWN_NS;
}

/* The first batch says about how many, or that fewer would do; then longer and longer ones, until
 * one is long enough or takes all slots. */
static pkb_code choose_calls(pkb_attempt *attempt, pkb_batch_time *time_side, uint32_t *calls,
                             pkb_error *err)
{
    uint32_t slot_count = attempt->judge->memory->layout.slot_count;
    uint64_t batch_ns = batch_ns_of(attempt);
    uint64_t all_ns[PKB_MAX_RANKS] = {0};
    pkb_batch batch;
    pkb_code rc = PKB_OK;

    *calls = slot_count < FIRST_CALLS ? slot_count : FIRST_CALLS;
    if (!is_gpu(attempt)) {
        *calls = slot_count;
        return PKB_OK;
    }
    for (int i = 0; i < CALIBRATIONS; i++) {
        pkb_batch_draw(attempt, &batch);
        rc = time_side(attempt, &batch, *calls, all_ns, err);
        if (rc != PKB_OK || !is_going_well(attempt))
            return rc;
        uint64_t ns = pkb_timing_slowest_ns(all_ns, attempt->judge->options.world);
        uint32_t wanted = pkb_timing_wanted_calls(*calls, ns, batch_ns, slot_count);
        if (i > 0 && pkb_timing_is_long_enough(*calls, wanted))
            return PKB_OK;
        if (i == 0 || wanted > *calls)
            *calls = wanted;
    }
    return PKB_OK;
}

/* ---- pairs ---- */

/* What would slow it is listened for first: the cell is stopped, what it started may not be. */
static pkb_code time_reference(pkb_attempt *attempt, const pkb_batch *batch, uint32_t calls,
                               uint64_t *all_ns, pkb_error *err)
{
    pkb_code rc = pkb_quiet_listen(attempt->judge, attempt->quiet_ns, &attempt->loud, err);
    if (rc != PKB_OK || attempt->loud.is_heard)
        return rc;
    return pkb_batch_time_reference(attempt, batch, calls, all_ns, err);
}

static pkb_code time_pair(pkb_attempt *attempt, const pkb_timing *timing, pkb_batch_pair *pair,
                          pkb_error *err)
{
    const uint32_t calls = timing->reference_calls;
    pkb_batch batch;
    pkb_code rc = PKB_OK;

    pkb_batch_draw(attempt, &batch);
    if (!pair->is_attempt_first)
        rc = time_reference(attempt, &batch, calls, pair->reference_ns, err);
    if (rc == PKB_OK && is_going_well(attempt))
        rc = pkb_batch_time_attempt(attempt, &batch, timing->attempt_calls, pair->attempt_ns, err);
    if (rc == PKB_OK && pair->is_attempt_first && is_going_well(attempt))
        rc = time_reference(attempt, &batch, calls, pair->reference_ns, err);
    return rc;
}

/* An attempt that was slow while its calls were chosen would have short batches, in which what it
 * might do before go counts for much. Then there are more calls, and the pairs begin anew. */
static bool was_misled(const pkb_attempt *attempt, pkb_timing *timing, const pkb_batch_pair *pair)
{
    const uint64_t ns = pkb_timing_slowest_ns(pair->attempt_ns, attempt->judge->options.world);
    const uint32_t wanted = pkb_timing_wanted_calls(timing->attempt_calls, ns, batch_ns_of(attempt),
                                                    attempt->judge->memory->layout.slot_count);

    if (!is_gpu(attempt) || !pkb_timing_is_far_too_short(timing->attempt_calls, wanted))
        return false;
    timing->attempt_calls = wanted;
    timing->pair_count = 0;
    return true;
}

/* Of two pairs each side begins one. */
static bool draw_order(pkb_attempt *attempt, const pkb_timing *timing)
{
    bool is_first = pkb_random_next(&attempt->judge->shared_random) % 2 != 0;
    if (timing->pair_count % 2 == 0)
        return is_first;
    return !timing->pairs[timing->pair_count - 1].is_attempt_first;
}

static bool is_time_over(const pkb_attempt *attempt, uint64_t begin_ns)
{
    const uint64_t budget_ns = is_gpu(attempt) ? BUDGET_GPU_NS : BUDGET_CPU_NS;
    return pkb_clock_now_ns() - begin_ns > budget_ns;
}

/* Whether another pair is wanted. All ranks agree: they have the same times, and rank 0's clock
 * decides. */
static pkb_code is_another_wanted(pkb_attempt *attempt, pkb_timing *timing, uint64_t begin_ns,
                                  bool *out, pkb_error *err)
{
    uint32_t world = attempt->judge->options.world;
    uint32_t most = is_scored(attempt) ? PKB_MAX_PAIRS : PAIRS_SHOWN;
    uint64_t all[PKB_MAX_RANKS];
    pkb_code rc =
        pkb_judge_world_share(&attempt->judge->world, is_time_over(attempt, begin_ns), all, err);

    timing->is_unstable = is_scored(attempt) && (timing->pair_count < PKB_LEAST_PAIRS ||
                                                 !pkb_timing_is_stable(timing, world));
    *out = rc == PKB_OK && all[0] == 0 && timing->pair_count < most &&
           (!is_scored(attempt) || timing->is_unstable);
    return rc;
}

pkb_code pkb_timing_run(pkb_attempt *attempt, pkb_size_result *result, pkb_error *err)
{
    pkb_timing *timing = &result->timing;
    const uint64_t begin_ns = pkb_clock_now_ns();
    bool goes_on = true;
    pkb_code rc =
        pkb_control_progress(&attempt->judge->control, attempt->judge->size->name, "time", err);

    pkb_cell_stop(attempt->cell, &attempt->finding);
    if (rc == PKB_OK)
        rc = choose_calls(attempt, time_reference, &timing->reference_calls, err);
    if (rc == PKB_OK && is_going_well(attempt))
        rc = choose_calls(attempt, pkb_batch_time_attempt, &timing->attempt_calls, err);
    while (rc == PKB_OK && goes_on && is_going_well(attempt)) {
        pkb_batch_pair *pair = &timing->pairs[timing->pair_count];
        pair->is_attempt_first = draw_order(attempt, timing);
        rc = time_pair(attempt, timing, pair, err);
        if (rc != PKB_OK || !is_going_well(attempt))
            break;
        if (was_misled(attempt, timing, pair))
            continue;
        timing->pair_count++;
        rc = is_another_wanted(attempt, timing, begin_ns, &goes_on, err);
    }
    pkb_cell_continue(attempt->cell);
    return rc;
}
