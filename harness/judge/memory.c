/* SPDX-License-Identifier: Apache-2.0
 *
 * A size's regions and what slots hold; see memory.h.
 */
#include "harness/judge/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

uint64_t pkb_memory_needed_bytes(const pkb_layout *layout, bool is_sparse)
{
    if (!is_sparse)
        return 2 * layout->slots_bytes + layout->pool_bytes + layout->symmetric_bytes;
    uint64_t guards = (uint64_t)2 * PKB_GUARD_BYTES * layout->argument_count;
    uint64_t slot = guards, entry = guards;
    for (uint32_t i = 0; i < layout->argument_count; i++) {
        const pkb_argument *argument = &layout->arguments[i];
        uint64_t bytes = argument->bytes[layout->rank];
        slot += argument->extent_bytes; /* what this rank does not use is guard */
        if (pkb_role_is_input(argument->role))
            entry += bytes;
        if (pkb_role_is_output(argument->role))
            entry += bytes + pkb_argument_alt_offset(argument, layout->rank);
    }
    return (uint64_t)2 * layout->slot_count * slot + layout->entry_count * entry;
}

static pkb_code create_regions(pkb_memory *memory, pkb_error *err)
{
    const pkb_layout *layout = &memory->layout;
    const struct {
        pkb_region *region;
        const char *name;
        uint64_t bytes;
        bool is_on_device;
    } wanted[] = {
        {&memory->layout_region, "pkb-layout", sizeof(pkb_layout), false},
        {&memory->slots, "pkb-slots", layout->slots_bytes, true},
        {&memory->symmetric, "pkb-symmetric", layout->symmetric_bytes, true},
        {&memory->staging, "pkb-staging", layout->slots_bytes, true},
        {&memory->host, "pkb-host", layout->slots_bytes, false},
        {&memory->values, "pkb-values", layout->slot_count * sizeof(pkb_slot_values), false},
        {&memory->pool, "pkb-pool", layout->pool_bytes, true},
    };
    pkb_code rc = PKB_OK;
    for (size_t i = 0; rc == PKB_OK && i < sizeof wanted / sizeof wanted[0]; i++)
        rc = wanted[i].is_on_device
                 ? memory->device->create(wanted[i].region, wanted[i].name, wanted[i].bytes, err)
                 : pkb_region_create(wanted[i].region, wanted[i].name, wanted[i].bytes, err);
    if (rc == PKB_OK)
        memcpy(memory->layout_region.address, layout, sizeof *layout);
    return rc;
}

pkb_code pkb_memory_create(pkb_memory **out, const pkb_judge_device *device,
                           const pkb_layout *layout, uint64_t guard_key, pkb_error *err)
{
    static const pkb_region none = PKB_REGION_NONE;
    pkb_code rc = PKB_OK;
    pkb_memory *memory = calloc(1, sizeof *memory);

    if (memory == NULL)
        return pkb_error_set(err, PKB_ERR_MEMORY, 0, "out of memory for a size");
    memory->layout_region = memory->slots = memory->symmetric = none;
    memory->staging = memory->host = memory->values = memory->pool = none;
    memory->device = device;
    memory->layout = *layout;
    memory->guard_key = guard_key;
    for (size_t i = 0; i < sizeof memory->arenas / sizeof memory->arenas[0]; i++)
        memory->arenas[i] = -1;
    memory->draws = calloc(layout->entry_count, sizeof *memory->draws);
    memory->spans =
        calloc((size_t)layout->slot_count * (layout->argument_count + 1), sizeof *memory->spans);
    if (memory->draws == NULL || memory->spans == NULL) {
        rc = pkb_error_set(err, PKB_ERR_MEMORY, 0, "out of memory for %u draws",
                           layout->entry_count);
        goto cleanup;
    }
    rc = create_regions(memory, err);
    if (rc == PKB_OK) {
        *out = memory;
        memory = NULL;
    }
cleanup:
    pkb_memory_free(memory);
    return rc;
}

void pkb_memory_free(pkb_memory *memory)
{
    if (memory == NULL)
        return;
    pkb_region_clear(&memory->layout_region);
    memory->device->clear(&memory->slots);
    memory->device->clear(&memory->symmetric);
    memory->device->clear(&memory->staging);
    pkb_region_clear(&memory->host);
    pkb_region_clear(&memory->values);
    memory->device->clear(&memory->pool);
    for (size_t i = 0; i < sizeof memory->arenas / sizeof memory->arenas[0]; i++)
        if (memory->arenas[i] >= 0)
            close(memory->arenas[i]);
    free(memory->draws);
    free(memory->spans);
    free(memory);
}

pkb_code pkb_memory_forget(pkb_memory *memory, pkb_error *err)
{
    pkb_code rc = memory->device->discard(&memory->symmetric, err);
    return rc == PKB_OK ? memory->device->discard(&memory->staging, err) : rc;
}

static void *entry_at(const pkb_memory *memory, uint32_t entry, uint64_t offset)
{
    return (char *)memory->pool.address + entry * memory->layout.entry_stride + offset;
}

void *pkb_memory_inputs(const pkb_memory *memory, uint32_t entry)
{
    return entry_at(memory, entry, 0);
}

void *pkb_memory_reference(const pkb_memory *memory, uint32_t entry)
{
    return entry_at(memory, entry, memory->layout.reference_offset);
}

void *pkb_memory_oracle(const pkb_memory *memory, uint32_t entry)
{
    return entry_at(memory, entry, memory->layout.oracle_offset);
}

void *pkb_memory_slot(const pkb_memory *memory, uint32_t slot)
{
    return (char *)memory->slots.address + slot * memory->layout.slot_stride;
}

void *pkb_memory_staged(const pkb_memory *memory, uint32_t slot)
{
    return (char *)memory->staging.address + slot * memory->layout.slot_stride;
}

/* ---- filling ---- */

static uint64_t slot_guard_key(const pkb_memory *memory, uint32_t slot)
{
    return memory->guard_key + slot * UINT64_C(0xd1342543de82ef95);
}

/* Bytes of a slot that argument i uses. A chain's cell copies whole extents, drawn dims or not. */
static uint64_t used_bytes(const pkb_memory *memory, uint32_t slot, uint32_t i)
{
    const pkb_load *load = &memory->loads[slot];
    return load->is_staged ? memory->layout.arguments[i].bytes[memory->layout.rank]
                           : memory->draws[load->entry].bytes[i];
}

/* Everything of a slot that no argument of this rank uses: one span before each tensor, and one
 * at the end. Returns how many. */
static size_t guard_spans(const pkb_memory *memory, uint32_t slot, pkb_span *out)
{
    const pkb_layout *layout = &memory->layout;
    uint64_t cursor = 0, key = slot_guard_key(memory, slot);
    void *base = pkb_memory_slot(memory, slot);
    size_t count = 0;
    for (uint32_t i = 0; i < layout->argument_count; i++) {
        const pkb_argument *argument = &layout->arguments[i];
        if (!pkb_role_is_tensor(argument->role))
            continue;
        out[count++] =
            (pkb_span){.base = base, .begin = cursor, .end = argument->offset, .key = key};
        cursor = argument->offset + used_bytes(memory, slot, i);
    }
    out[count++] =
        (pkb_span){.base = base, .begin = cursor, .end = layout->slot_stride, .key = key};
    return count;
}

static void fill_guards(pkb_memory *memory, uint32_t slot)
{
    memory->device->fill(memory->spans, guard_spans(memory, slot, memory->spans));
}

/* Inputs come from the entry, the rest is poison. */
static void fill_image(void *image, const pkb_memory *memory, uint32_t slot, bool has_inputs)
{
    const pkb_load *load = &memory->loads[slot];
    const pkb_draw *draw = &memory->draws[load->entry];
    pkb_span copies[PKB_MAX_ARGUMENTS], poisons[PKB_MAX_ARGUMENTS];
    size_t copy_count = 0, poison_count = 0;
    for (uint32_t i = 0; i < memory->layout.argument_count; i++) {
        const pkb_argument *argument = &memory->layout.arguments[i];
        pkb_span span = {.base = image,
                         .begin = argument->offset,
                         .key = load->poison_key,
                         .other = pkb_memory_inputs(memory, load->entry)};
        if (!pkb_role_is_tensor(argument->role))
            continue;
        if (has_inputs && pkb_role_is_input(argument->role)) {
            span.end = argument->offset + draw->bytes[i];
            copies[copy_count++] = span;
        } else {
            span.end = argument->offset + used_bytes(memory, slot, i);
            poisons[poison_count++] = span;
        }
    }
    memory->device->copy(copies, copy_count);
    memory->device->fill(poisons, poison_count);
}

static void fill_host(pkb_memory *memory, uint32_t slot, uint32_t entry)
{
    const pkb_draw *draw = &memory->draws[entry];
    char *host = (char *)memory->host.address + slot * memory->layout.slot_stride;
    const char *inputs = pkb_memory_inputs(memory, entry);
    for (uint32_t i = 0; i < memory->layout.argument_count; i++) {
        const pkb_argument *argument = &memory->layout.arguments[i];
        if (argument->role == PKB_ROLE_HOST)
            memory->device->read(host + argument->offset, inputs + argument->offset,
                                 draw->bytes[i]);
    }
    ((pkb_slot_values *)memory->values.address)[slot] = draw->values;
}

void pkb_memory_load(pkb_memory *memory, uint32_t slot, uint32_t entry, uint64_t poison_key)
{
    memory->loads[slot] = (pkb_load){.entry = entry, .poison_key = poison_key};
    fill_guards(memory, slot);
    fill_host(memory, slot, entry);
    fill_image(pkb_memory_slot(memory, slot), memory, slot, true);
}

static void stage(pkb_memory *memory, uint32_t slot, const pkb_load *load, bool has_inputs)
{
    memory->loads[slot] = *load;
    fill_guards(memory, slot);
    fill_host(memory, slot, load->entry);
    fill_image(pkb_memory_slot(memory, slot), memory, slot, false);
    fill_image(pkb_memory_staged(memory, slot), memory, slot, has_inputs);
}

void pkb_memory_stage(pkb_memory *memory, uint32_t slot, uint32_t entry, uint64_t poison_key)
{
    const pkb_load load = {.entry = entry, .poison_key = poison_key, .is_staged = true};
    stage(memory, slot, &load, true);
}

void pkb_memory_blank(pkb_memory *memory, uint32_t slot, uint32_t entry, uint64_t poison_key)
{
    const pkb_load load = {.entry = entry, .poison_key = poison_key, .is_staged = true};
    stage(memory, slot, &load, false);
}

/* ---- verifying ---- */

/* The tensors of a slot around byte `at`: the last that begins at or before it, the next one. */
typedef struct neighbours {
    const pkb_argument *before, *after; /* NULL = none */
    uint64_t past_bytes;                /* from the end of what this rank uses of `before` */
} neighbours;

static neighbours neighbours_of(const pkb_memory *memory, uint32_t slot, uint64_t at)
{
    neighbours found = {.past_bytes = UINT64_MAX};
    for (uint32_t i = 0; i < memory->layout.argument_count; i++) {
        const pkb_argument *argument = &memory->layout.arguments[i];
        if (!pkb_role_is_tensor(argument->role))
            continue;
        if (argument->offset > at) {
            found.after = argument;
            break;
        }
        found.before = argument;
        found.past_bytes = at - argument->offset - used_bytes(memory, slot, i);
    }
    return found;
}

/* Names the place of a damaged guard byte: which argument it borders on, or lies in. */
static void report_guard(const pkb_memory *memory, uint32_t slot, uint64_t at, pkb_finding *finding)
{
    uint32_t rank = memory->layout.rank;
    neighbours near = neighbours_of(memory, slot, at);
    const pkb_argument *before = near.before, *after = near.after, *named = before;

    if (before != NULL && !before->present[rank] && at < before->offset + before->extent_bytes) {
        pkb_finding_set(finding, PKB_VERDICT_OUT_OF_BOUNDS,
                        "rank %u: memory of argument %s, which this rank does not have, was "
                        "written (byte %" PRIu64 ")",
                        rank, before->name, near.past_bytes);
    } else if (before != NULL && (after == NULL || near.past_bytes < after->offset - at)) {
        char distance[48] = "right behind";
        if (near.past_bytes > 0)
            snprintf(distance, sizeof distance, "%" PRIu64 " bytes past", near.past_bytes);
        pkb_finding_set(finding, PKB_VERDICT_OUT_OF_BOUNDS,
                        "rank %u: memory %s the end of argument %s was written", rank, distance,
                        before->name);
    } else if (after != NULL) {
        named = after;
        pkb_finding_set(finding, PKB_VERDICT_OUT_OF_BOUNDS,
                        "rank %u: memory %" PRIu64 " bytes before argument %s was written", rank,
                        after->offset - at, after->name);
    }
    if (named != NULL)
        snprintf(finding->output, sizeof finding->output, "%s", named->name);
}

void pkb_memory_verify_guards(const pkb_memory *memory, pkb_finding *finding)
{
    pkb_spot spot = {0};
    size_t count = 0, slot_spans = 1;
    for (uint32_t slot = 0; slot < memory->layout.slot_count; slot++) {
        slot_spans = guard_spans(memory, slot, memory->spans + count);
        count += slot_spans;
    }
    if (memory->device->find_damage(memory->spans, count, &spot))
        report_guard(memory, (uint32_t)(spot.span / slot_spans), spot.at, finding);
}

static void report_input(const pkb_memory *memory, const pkb_draw *draw, uint32_t i, uint64_t at,
                         pkb_finding *finding)
{
    const pkb_argument *argument = &memory->layout.arguments[i];
    char place[160];
    if (!pkb_finding_set(finding, PKB_VERDICT_INPUT_MUTATED, "changed"))
        return;
    pkb_finding_place(finding, argument, draw->shape[i], at / pkb_dtype_bytes(argument->dtype));
    pkb_finding_place_text(finding, place, sizeof place);
    snprintf(finding->reason, sizeof finding->reason,
             "rank %u: its input %s was changed, by its own kernel or a peer's; inputs are "
             "read-only",
             memory->layout.rank, place);
}

/* The bytes that a slot's draw gives the arguments for which `is_meant` holds. */
static size_t argument_spans(const pkb_memory *memory, uint32_t slot, bool (*is_meant)(pkb_role),
                             pkb_span *out, uint32_t *numbers)
{
    uint32_t entry = memory->loads[slot].entry;
    size_t count = 0;
    for (uint32_t i = 0; i < memory->layout.argument_count; i++) {
        const pkb_argument *argument = &memory->layout.arguments[i];
        if (!is_meant(argument->role))
            continue;
        numbers[count] = i;
        out[count++] = (pkb_span){.base = pkb_memory_slot(memory, slot),
                                  .begin = argument->offset,
                                  .end = argument->offset + memory->draws[entry].bytes[i],
                                  .other = pkb_memory_inputs(memory, entry)};
    }
    return count;
}

static bool is_read_only(pkb_role role)
{
    return role == PKB_ROLE_IN;
}

void pkb_memory_verify_inputs(const pkb_memory *memory, uint32_t slot, pkb_finding *finding)
{
    pkb_span spans[PKB_MAX_ARGUMENTS];
    uint32_t numbers[PKB_MAX_ARGUMENTS];
    pkb_spot spot = {0};
    size_t count = argument_spans(memory, slot, is_read_only, spans, numbers);
    if (memory->device->find_difference(spans, count, &spot))
        report_input(memory, &memory->draws[memory->loads[slot].entry], numbers[spot.span],
                     spot.at - spans[spot.span].begin, finding);
}

uint64_t pkb_memory_digest(const pkb_memory *memory, uint32_t slot)
{
    pkb_span spans[PKB_MAX_ARGUMENTS];
    uint32_t numbers[PKB_MAX_ARGUMENTS];
    size_t count = argument_spans(memory, slot, pkb_role_is_output, spans, numbers);
    return memory->device->digest(spans, count, memory->guard_key);
}

void pkb_memory_settle(pkb_memory *memory, uint32_t slot)
{
    memory->loads[slot].digest = pkb_memory_digest(memory, slot);
    memory->loads[slot].is_settled = true;
}

void pkb_memory_verify_outputs(const pkb_memory *memory, uint32_t current, pkb_finding *finding)
{
    for (uint32_t slot = 0; slot < memory->layout.slot_count; slot++) {
        const pkb_load *load = &memory->loads[slot];
        if (!load->is_settled || pkb_memory_digest(memory, slot) == load->digest)
            continue;
        if (slot == current)
            pkb_finding_set(finding, PKB_VERDICT_WRONG_OUTPUT,
                            "rank %u: its outputs were still changed after its stream said that "
                            "they were final",
                            finding->rank);
        else
            pkb_finding_set(finding, PKB_VERDICT_STATE_REPLAY,
                            "rank %u: the outputs of an earlier call were written again: "
                            "addresses of that call were kept",
                            finding->rank);
    }
}
