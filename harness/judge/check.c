/* SPDX-License-Identifier: Apache-2.0
 *
 * Is an attempt right? Trials, one call each, on inputs that lie ready; among them two chains of
 * calls, in which the inputs appear only just before each call.
 */
#include <stdio.h>

#include "base/clock.h"
#include "base/stats.h"
#include "harness/judge/attempt.h"
#include "harness/judge/outputs.h"

#define TRIAL_DELAY_NS (3 * PKB_NS_PER_MS)
#define CHAIN_DELAY_MIN_NS (5 * PKB_NS_PER_MS)
#define CHAIN_DELAY_SPAN_NS (15 * PKB_NS_PER_MS)

static const char chain_comment[] =
    "right when all inputs lie ready, wrong when a peer is late or new data lies at a known "
    "address: a wait for the peers is missing, at the start or at the end of the work, or "
    "something was kept from an earlier call";

/* ---- trials ---- */

/* Which rank starts late, and the order of all: drawn alike everywhere. */
static uint64_t start_delay_ns(pkb_attempt *attempt)
{
    pkb_judge *judge = attempt->judge;
    uint32_t late = (uint32_t)(pkb_random_next(&judge->shared_random) % judge->options.world);
    if (judge->options.rank == late)
        return TRIAL_DELAY_NS;
    return pkb_attempt_key(attempt) % (TRIAL_DELAY_NS / 4);
}

static void compare_slot(pkb_attempt *attempt, uint32_t slot, const void *image, const char *phase,
                         const char *comment)
{
    const pkb_memory *memory = attempt->judge->memory;
    const pkb_outputs_place place = {.image = image,
                                     .entry = memory->loads[slot].entry,
                                     .poison_key = memory->loads[slot].poison_key,
                                     .phase = phase,
                                     .comment = comment,
                                     .past = attempt->past,
                                     .past_count = attempt->past_count};
    pkb_outputs_compare(memory, attempt->judge->size, &place, &attempt->finding);
}

/* Once all ranks stand still: what was final must still be, and nothing else may have changed. */
static void verify_slot(pkb_attempt *attempt, uint32_t slot, const char *phase)
{
    const pkb_memory *memory = attempt->judge->memory;
    pkb_memory_verify_guards(memory, &attempt->finding);
    pkb_memory_verify_inputs(memory, slot, &attempt->finding);
    pkb_memory_verify_outputs(memory, slot, &attempt->finding);
    if (!pkb_finding_is_clean(&attempt->finding) && attempt->finding.phase[0] == '\0')
        snprintf(attempt->finding.phase, sizeof attempt->finding.phase, "%s", phase);
}

static pkb_code run_trial(pkb_attempt *attempt, uint32_t slot, const char *step, const char *phase,
                          pkb_error *err)
{
    pkb_judge *judge = attempt->judge;
    const pkb_cell_request request = {
        .command = PKB_COMMAND_RUN, .step = step, .call_count = 1, .slots = &slot};
    pkb_code rc = PKB_OK;

    pkb_cell_continue(attempt->cell);
    if ((rc = pkb_judge_world_barrier(&judge->world, err)) != PKB_OK)
        return rc;
    pkb_clock_sleep_ns(start_delay_ns(attempt));
    if ((rc = pkb_cell_do(attempt->cell, &request, &attempt->finding, err)) != PKB_OK)
        return rc;
    pkb_cell_stop(attempt->cell, &attempt->finding);
    if (pkb_finding_is_clean(&attempt->finding) && !pkb_judge_world_is_aborted(&judge->world)) {
        pkb_memory_settle(judge->memory, slot);
        compare_slot(attempt, slot, pkb_memory_slot(judge->memory, slot), phase, "");
    }
    return PKB_OK;
}

/* One call on `entry`'s inputs in `slot`; `step` says which, for people. */
static pkb_code check_call(pkb_attempt *attempt, uint32_t slot, uint32_t entry, const char *step,
                           pkb_error *err)
{
    pkb_judge *judge = attempt->judge;
    bool is_clean = false;
    char phase[128];
    pkb_code rc = PKB_OK;

    snprintf(phase, sizeof phase, "pkb_run, %s", step);
    pkb_memory_load(judge->memory, slot, entry, pkb_attempt_key(attempt));
    if ((rc = judge->device->synchronise(err)) != PKB_OK ||
        (rc = run_trial(attempt, slot, step, phase, err)) != PKB_OK ||
        (rc = pkb_judge_world_barrier(&judge->world, err)) != PKB_OK)
        return rc;
    if (!pkb_judge_world_is_aborted(&judge->world))
        verify_slot(attempt, slot, phase);
    rc = pkb_attempt_settle(attempt, &is_clean, err);
    pkb_attempt_remember(attempt, entry);
    return rc;
}

static pkb_code check_trial(pkb_attempt *attempt, uint32_t trial, pkb_error *err)
{
    pkb_judge *judge = attempt->judge;
    char step[96], progress[32];

    snprintf(progress, sizeof progress, "check %u/%u", trial + 1, judge->trial_count);
    snprintf(step, sizeof step, "trial %u of %u, %s inputs", trial + 1, judge->trial_count,
             judge->size->families[judge->memory->draws[trial].family]);
    pkb_code rc = pkb_control_progress(&judge->control, judge->size->name, progress, err);
    if (rc == PKB_OK)
        rc = check_call(attempt, trial % judge->memory->layout.slot_count, trial, step, err);
    return rc;
}

/* Where a problem demands it, the last trial's inputs must give the same bits again. */
static pkb_code check_repeat(pkb_attempt *attempt, pkb_error *err)
{
    pkb_judge *judge = attempt->judge;
    pkb_memory *memory = judge->memory;
    uint32_t trial = judge->trial_count - 1, count = memory->layout.slot_count;
    uint64_t digest = memory->loads[trial % count].digest;
    bool is_clean = false;
    pkb_code rc = check_call(attempt, (trial + 1) % count, trial, "the last trial again", err);

    if (rc != PKB_OK || !pkb_finding_is_clean(&attempt->worst))
        return rc;
    if (memory->loads[(trial + 1) % count].digest != digest)
        pkb_finding_set(&attempt->finding, PKB_VERDICT_NONDETERMINISTIC,
                        "rank %u: two calls on the same inputs gave different bits",
                        attempt->finding.rank);
    return pkb_attempt_settle(attempt, &is_clean, err);
}

/* Rows beyond a count are not compared, so their bits may differ. */
static bool must_repeat(const pkb_judge *judge)
{
    for (uint32_t i = 0; i < judge->memory->layout.argument_count; i++)
        if (judge->memory->layout.arguments[i].count_argument != 0)
            return false;
    return judge->plan->is_deterministic;
}

/* ---- chains ---- */

typedef struct chain { /* the same on all ranks; which, nobody else knows */
    uint32_t place;    /* how many trials come before it */
    uint32_t first_entry, count;
    uint32_t slots[PKB_MAX_SLOTS];
    uint64_t delay_ns[PKB_MAX_SLOTS];
} chain;

static uint32_t draw_below(pkb_judge *judge, uint32_t limit)
{
    return (uint32_t)(pkb_random_next(&judge->shared_random) % limit);
}

/* Slots in random order, and delays: a late rank before each call, every rank in its turn. */
static void plan_chain(pkb_judge *judge, chain *out, uint32_t first)
{
    uint32_t world = judge->options.world;
    uint32_t order[PKB_MAX_SLOTS] = {0};

    for (uint32_t i = 0; i < judge->chain_slot_count; i++) {
        uint32_t j = draw_below(judge, i + 1);
        order[i] = order[j];
        order[j] = i;
    }
    for (uint32_t i = 0; i < out->count; i++) {
        uint64_t span_ns = pkb_random_next(&judge->shared_random) % CHAIN_DELAY_SPAN_NS;
        bool is_late = (first + i) % world == judge->options.rank;
        out->slots[i] = order[i];
        out->delay_ns[i] = is_late ? CHAIN_DELAY_MIN_NS + span_ns : 0;
    }
}

/* Two chains of secret lengths at two secret places behind the first trial, so that no count of its
 * calls tells an attempt when it has to wait for its peers. */
static void plan_chains(pkb_judge *judge, chain chains[2])
{
    uint32_t slots = judge->chain_slot_count, least = slots < 2 ? slots : 2;
    uint32_t trials = judge->trial_count, first = draw_below(judge, judge->options.world);

    chains[0].count = least + draw_below(judge, slots - least + 1);
    uint32_t left = judge->memory->layout.entry_count - trials - chains[0].count;
    uint32_t most = left < slots ? left : slots;
    if (chains[0].count + least < slots) /* together no fewer calls than slots */
        least = slots - chains[0].count;
    chains[1].count = least + draw_below(judge, most - least + 1);
    chains[0].first_entry = trials;
    chains[1].first_entry = trials + chains[0].count;
    chains[0].place = 1 + draw_below(judge, trials);
    chains[1].place = 1 + draw_below(judge, trials - 1);
    chains[1].place += chains[1].place >= chains[0].place;
    plan_chain(judge, &chains[0], first);
    plan_chain(judge, &chains[1], first + chains[0].count); /* who was not late yet */
}

static void compare_chain(pkb_attempt *attempt, const chain *links)
{
    const pkb_memory *memory = attempt->judge->memory;
    for (uint32_t i = 0; i < links->count; i++)
        if (pkb_finding_is_clean(&attempt->finding))
            compare_slot(attempt, links->slots[i], pkb_memory_staged(memory, links->slots[i]),
                         "pkb_run, back-to-back calls", chain_comment);
}

static pkb_code check_chain(pkb_attempt *attempt, const chain *links, pkb_error *err)
{
    pkb_judge *judge = attempt->judge;
    pkb_memory *memory = judge->memory;
    bool is_clean = false;
    const pkb_cell_request request = {.command = PKB_COMMAND_CHAIN,
                                      .step = "back-to-back calls",
                                      .call_count = links->count,
                                      .slots = links->slots,
                                      .delay_ns = links->delay_ns,
                                      .overwrite_byte =
                                          (uint32_t)(pkb_attempt_key(attempt) % 254) + 2};
    pkb_code rc = pkb_control_progress(&judge->control, judge->size->name, "chain", err);

    for (uint32_t i = 0; i < links->count; i++)
        pkb_memory_stage(memory, links->slots[i], links->first_entry + i, pkb_attempt_key(attempt));
    if (rc == PKB_OK)
        rc = judge->device->synchronise(err);
    pkb_cell_continue(attempt->cell);
    if (rc != PKB_OK || (rc = pkb_judge_world_barrier(&judge->world, err)) != PKB_OK ||
        (rc = pkb_cell_do(attempt->cell, &request, &attempt->finding, err)) != PKB_OK)
        return rc;
    pkb_cell_stop(attempt->cell, &attempt->finding);
    if ((rc = pkb_judge_world_barrier(&judge->world, err)) != PKB_OK)
        return rc;
    if (!pkb_judge_world_is_aborted(&judge->world)) {
        compare_chain(attempt, links);
        pkb_memory_verify_guards(memory, &attempt->finding);
    }
    for (uint32_t i = 0; i < links->count; i++)
        pkb_attempt_remember(attempt, links->first_entry + i);
    return pkb_attempt_settle(attempt, &is_clean, err);
}

/* ---- all in order ---- */

static bool is_over(const pkb_attempt *attempt, pkb_code rc)
{
    return rc != PKB_OK || !pkb_finding_is_clean(&attempt->worst);
}

static pkb_code check_rest(pkb_attempt *attempt, uint32_t trial, pkb_error *err)
{
    pkb_code rc = PKB_OK;
    while (trial < attempt->judge->trial_count && !is_over(attempt, rc))
        rc = check_trial(attempt, trial++, err);
    return rc;
}

/* What is wrong in a chain may be wrong on ready inputs as well, in a trial that is still to come:
 * then that is the clearer reason. */
static pkb_code look_for_clearer(pkb_attempt *attempt, uint32_t trial, pkb_error *err)
{
    const pkb_finding mine = attempt->finding, worst = attempt->worst;

    if (worst.verdict != PKB_VERDICT_WRONG_OUTPUT ||
        pkb_judge_world_is_aborted(&attempt->judge->world))
        return PKB_OK;
    pkb_finding_init(&attempt->finding, mine.rank);
    pkb_finding_init(&attempt->worst, 0);
    pkb_code rc = check_rest(attempt, trial, err);
    if (rc == PKB_OK && attempt->worst.verdict > worst.verdict) {
        const bool was_killed = attempt->worst.was_killed;
        attempt->finding = mine;
        attempt->worst = worst;
        attempt->worst.was_killed = was_killed;
    }
    return rc;
}

pkb_code pkb_check_run(pkb_attempt *attempt, pkb_error *err)
{
    pkb_judge *judge = attempt->judge;
    chain chains[2] = {0};
    pkb_code rc = PKB_OK;

    plan_chains(judge, chains);
    for (uint32_t trial = 0; trial < judge->trial_count; trial++) {
        rc = check_trial(attempt, trial, err);
        if (!is_over(attempt, rc) && trial + 1 == judge->trial_count && must_repeat(judge))
            rc = check_repeat(attempt, err);
        for (int i = 0; i < 2 && !is_over(attempt, rc); i++) {
            if (chains[i].place != trial + 1)
                continue;
            rc = check_chain(attempt, &chains[i], err);
            if (rc == PKB_OK && is_over(attempt, rc))
                return look_for_clearer(attempt, trial + 1, err);
        }
        if (is_over(attempt, rc))
            return rc;
    }
    pkb_cell_continue(attempt->cell);
    return PKB_OK;
}
