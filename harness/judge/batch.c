/* SPDX-License-Identifier: Apache-2.0
 *
 * One timed batch; see batch.h.
 */
#include "harness/judge/batch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/stats.h"
#include "harness/judge/outputs.h"

enum { SAMPLES_AN_OUTPUT = 16, LEAST_WHOLE = 4 };
/* For whole comparisons after a batch on a GPU. */
#define WHOLE_NS (40 * PKB_NS_PER_MS)

/* ---- what lies where ---- */

static void shuffle(uint64_t *random, uint32_t *items, uint32_t count)
{
    for (uint32_t i = count; i-- > 1;) {
        uint32_t j = (uint32_t)(pkb_random_next(random) % (i + 1)), item = items[i];
        items[i] = items[j];
        items[j] = item;
    }
}

void pkb_batch_draw(pkb_attempt *attempt, pkb_batch *batch)
{
    pkb_judge *judge = attempt->judge;
    uint32_t entries[PKB_MAX_SLOTS + PKB_MAX_FAMILIES];
    const pkb_layout *layout = &judge->memory->layout;

    if (layout->entry_count == 0)
        return; /* never so: every slot has been filled from one */
    for (uint32_t i = 0; i < layout->entry_count; i++)
        entries[i] = i;
    for (uint32_t i = 0; i < layout->slot_count; i++)
        batch->slots[i] = i;
    shuffle(&judge->shared_random, entries, layout->entry_count);
    shuffle(&judge->shared_random, batch->slots, layout->slot_count);
    for (uint32_t i = 0; i < layout->slot_count; i++)
        batch->entries[i] = entries[i % layout->entry_count];
}

/* ---- the sampler ---- */

/* Secret places in all outputs of a batch, and what was seen there. */
typedef struct look {
    pkb_sample *places;
    uint32_t *arguments; /* whose element it is */
    uint64_t *seen, *still;
    size_t count;
} look;

static void look_clear(look *l)
{
    free(l->places);
    free(l->arguments);
    free(l->seen);
    free(l->still);
    *l = (look){0};
}

static void add_places(look *l, pkb_attempt *attempt, uint32_t slot, uint32_t i)
{
    const pkb_memory *memory = attempt->judge->memory;
    const pkb_argument *argument = &memory->layout.arguments[i];
    uint64_t bytes = pkb_dtype_bytes(argument->dtype);
    uint64_t elements = memory->draws[memory->loads[slot].entry].bytes[i] / bytes;

    if (!pkb_role_is_output(argument->role) || elements == 0)
        return;
    for (int k = 0; k < SAMPLES_AN_OUTPUT; k++) {
        uint64_t at = argument->offset + pkb_attempt_key(attempt) % elements * bytes;
        l->arguments[l->count] = i;
        l->places[l->count++] = (pkb_sample){
            .element = (const char *)pkb_memory_slot(memory, slot) + at, .bytes = bytes};
    }
}

/* Nothing to do where the device needs no sampler. */
static pkb_code look_prepare(look *l, pkb_attempt *attempt, const pkb_batch *batch, uint32_t calls,
                             pkb_error *err)
{
    const pkb_memory *memory = attempt->judge->memory;
    uint32_t argument_count = memory->layout.argument_count;
    size_t most = (size_t)calls * argument_count * SAMPLES_AN_OUTPUT;

    if (memory->device->sample_prepare == NULL || most == 0)
        return PKB_OK;
    l->places = calloc(most, sizeof *l->places);
    l->arguments = calloc(most, sizeof *l->arguments);
    l->seen = calloc(most, sizeof *l->seen);
    l->still = calloc(most, sizeof *l->still);
    if (l->places == NULL || l->arguments == NULL || l->seen == NULL || l->still == NULL)
        return pkb_error_set(err, PKB_ERR_MEMORY, 0, "out of memory for samples");
    for (uint32_t call = 0; call < calls; call++)
        for (uint32_t i = 0; i < argument_count; i++)
            add_places(l, attempt, batch->slots[call], i);
    memory->device->sample_prepare(l->places, l->count);
    return memory->device->synchronise(err);
}

/* The stop stamp: the end of a look at the outputs, or this moment. */
static pkb_code stop_clock(const pkb_attempt *attempt, uint64_t *stop_ns, pkb_error *err)
{
    const pkb_judge_device *device = attempt->judge->device;
    pkb_code rc = device->sample_take != NULL ? device->sample_take(err) : PKB_OK;
    *stop_ns = pkb_clock_now_ns();
    return rc;
}

/* Everything stands still now: whatever was final at the stop stamp is still the same. */
static pkb_code look_again(look *l, pkb_attempt *attempt, pkb_error *err)
{
    const pkb_memory *memory = attempt->judge->memory;
    pkb_code rc = PKB_OK;

    if (l->count == 0)
        return PKB_OK;
    memory->device->sample_read(l->seen);
    if ((rc = memory->device->sample_take(err)) != PKB_OK)
        return rc;
    memory->device->sample_read(l->still);
    for (size_t i = 0; i < l->count; i++) {
        if (l->seen[i] == l->still[i])
            continue;
        const char *name = memory->layout.arguments[l->arguments[i]].name;
        if (pkb_finding_set(&attempt->finding, PKB_VERDICT_WRONG_OUTPUT,
                            "rank %u: output %s was still being written after its stream said that "
                            "it was final (pkb_run, timed batch)",
                            attempt->finding.rank, name))
            snprintf(attempt->finding.output, sizeof attempt->finding.output, "%s", name);
        return PKB_OK;
    }
    return PKB_OK;
}

/* ---- both sides ---- */

static pkb_code load(pkb_attempt *attempt, const pkb_batch *batch, uint32_t calls, look *l,
                     pkb_error *err)
{
    for (uint32_t i = 0; i < calls; i++)
        pkb_memory_load(attempt->judge->memory, batch->slots[i], batch->entries[i],
                        pkb_attempt_key(attempt));
    pkb_code rc = look_prepare(l, attempt, batch, calls, err);
    return rc != PKB_OK ? rc : attempt->judge->device->synchronise(err);
}

pkb_code pkb_batch_time_reference(pkb_attempt *attempt, const pkb_batch *batch, uint32_t calls,
                                  uint64_t *all_ns, pkb_error *err)
{
    pkb_judge *judge = attempt->judge;
    uint64_t go_ns = 0, stop_ns = 0;
    look l = {0};
    pkb_code rc = PKB_OK;

    if ((rc = load(attempt, batch, calls, &l, err)) == PKB_OK &&
        (rc = pkb_runner_batch(judge->runner, batch->slots, batch->entries, calls, err)) ==
            PKB_OK &&
        (rc = pkb_runner_batch_claim(judge->runner, err)) == PKB_OK &&
        (rc = pkb_judge_world_barrier(&judge->world, err)) == PKB_OK &&
        (rc = pkb_runner_batch_run(judge->runner, judge->world.spin, &go_ns, err)) == PKB_OK &&
        (rc = stop_clock(attempt, &stop_ns, err)) == PKB_OK)
        rc = pkb_runner_batch_end(judge->runner, err);
    look_clear(&l);
    return rc != PKB_OK ? rc : pkb_judge_world_share(&judge->world, stop_ns - go_ns, all_ns, err);
}

/* The last call is compared whole, and others in secret order while there is time: nobody knows
 * beforehand which. On the CPU all of them. */
static void verify(pkb_attempt *attempt, const pkb_batch *batch, uint32_t calls)
{
    const pkb_memory *memory = attempt->judge->memory;
    uint32_t order[PKB_MAX_SLOTS];
    bool is_sampled = memory->device->sample_take != NULL;
    uint64_t begin_ns = pkb_clock_now_ns();

    for (uint32_t i = 0; i < calls; i++)
        order[i] = calls - 1 - i;
    if (calls > 1)
        shuffle(&attempt->judge->own_random, order + 1, calls - 1);
    pkb_memory_verify_guards(memory, &attempt->finding);
    for (uint32_t k = 0; k < calls && pkb_finding_is_clean(&attempt->finding); k++) {
        uint32_t i = order[k], slot = batch->slots[i];
        if (is_sampled && k >= LEAST_WHOLE && pkb_clock_now_ns() - begin_ns > WHOLE_NS)
            return;
        const pkb_outputs_place place = {.image = pkb_memory_slot(memory, slot),
                                         .entry = batch->entries[i],
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
static pkb_code claim(pkb_attempt *attempt, bool *is_clean, pkb_error *err)
{
    const pkb_cell_request request = {.command = PKB_COMMAND_CLAIM, .is_timed = true};
    pkb_cell_continue(attempt->cell);
    pkb_code rc = pkb_cell_do(attempt->cell, &request, &attempt->finding, err);
    return rc != PKB_OK ? rc : pkb_attempt_settle(attempt, is_clean, err);
}

/* From go to the stop stamp. Then nothing of the cell runs. */
static pkb_code run_attempt(pkb_attempt *attempt, const pkb_batch *batch, uint32_t calls,
                            uint64_t *took_ns, pkb_error *err)
{
    const pkb_cell_request request = {.command = PKB_COMMAND_RUN,
                                      .step = "timed batch",
                                      .call_count = calls,
                                      .slots = batch->slots,
                                      .is_timed = true};
    uint64_t go_ns = pkb_clock_now_ns(), stop_ns = 0;
    pkb_code rc = pkb_cell_do(attempt->cell, &request, &attempt->finding, err);
    if (rc == PKB_OK)
        rc = stop_clock(attempt, &stop_ns, err);
    *took_ns = stop_ns - go_ns;
    pkb_cell_stop(attempt->cell, &attempt->finding);
    return rc;
}

pkb_code pkb_batch_time_attempt(pkb_attempt *attempt, const pkb_batch *batch, uint32_t calls,
                                uint64_t *all_ns, pkb_error *err)
{
    pkb_judge *judge = attempt->judge;
    uint64_t took_ns = 0;
    bool is_clean = false;
    look l = {0};
    pkb_code rc = load(attempt, batch, calls, &l, err);

    if (rc != PKB_OK || (rc = claim(attempt, &is_clean, err)) != PKB_OK || !is_clean ||
        (rc = run_attempt(attempt, batch, calls, &took_ns, err)) != PKB_OK ||
        (rc = pkb_judge_world_share(&judge->world, took_ns, all_ns, err)) != PKB_OK)
        goto cleanup;
    if (!pkb_judge_world_is_aborted(&judge->world) && (rc = look_again(&l, attempt, err)) == PKB_OK)
        verify(attempt, batch, calls);
    if (rc == PKB_OK)
        rc = pkb_attempt_settle(attempt, &is_clean, err);
cleanup:
    look_clear(&l);
    return rc;
}
