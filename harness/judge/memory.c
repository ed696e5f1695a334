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

#include "harness/judge/pattern.h"

uint64_t pkb_memory_needed_bytes(const pkb_layout *layout)
{
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
    } wanted[] = {
        {&memory->layout_region, "pkb-layout", sizeof(pkb_layout)},
        {&memory->slots, "pkb-slots", layout->slots_bytes},
        {&memory->symmetric, "pkb-symmetric", layout->symmetric_bytes},
        {&memory->staging, "pkb-staging", layout->slots_bytes},
        {&memory->host, "pkb-host", layout->slots_bytes},
        {&memory->values, "pkb-values", layout->slot_count * sizeof(pkb_slot_values)},
        {&memory->pool, "pkb-pool", layout->pool_bytes},
    };
    pkb_code rc = PKB_OK;
    for (size_t i = 0; rc == PKB_OK && i < sizeof wanted / sizeof wanted[0]; i++)
        rc = pkb_region_create(wanted[i].region, wanted[i].name, wanted[i].bytes, err);
    if (rc == PKB_OK)
        memcpy(memory->layout_region.address, layout, sizeof *layout);
    return rc;
}

pkb_code pkb_memory_create(pkb_memory **out, const pkb_layout *layout, uint64_t guard_key,
                           pkb_error *err)
{
    static const pkb_region none = PKB_REGION_NONE;
    pkb_code rc = PKB_OK;
    pkb_memory *memory = calloc(1, sizeof *memory);

    if (memory == NULL)
        return pkb_error_set(err, PKB_ERR_MEMORY, 0, "out of memory for a size");
    memory->layout_region = memory->slots = memory->symmetric = none;
    memory->staging = memory->host = memory->values = memory->pool = none;
    memory->layout = *layout;
    memory->guard_key = guard_key;
    for (size_t i = 0; i < sizeof memory->arenas / sizeof memory->arenas[0]; i++)
        memory->arenas[i] = -1;
    memory->draws = calloc(layout->entry_count, sizeof *memory->draws);
    if (memory->draws == NULL) {
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
    pkb_region_clear(&memory->slots);
    pkb_region_clear(&memory->symmetric);
    pkb_region_clear(&memory->staging);
    pkb_region_clear(&memory->host);
    pkb_region_clear(&memory->values);
    pkb_region_clear(&memory->pool);
    for (size_t i = 0; i < sizeof memory->arenas / sizeof memory->arenas[0]; i++)
        if (memory->arenas[i] >= 0)
            close(memory->arenas[i]);
    free(memory->draws);
    free(memory);
}

pkb_code pkb_memory_forget(pkb_memory *memory, pkb_error *err)
{
    return pkb_region_discard(&memory->symmetric, err);
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

static void fill_guards(pkb_memory *memory, uint32_t slot)
{
    const pkb_layout *layout = &memory->layout;
    uint64_t cursor = 0, key = slot_guard_key(memory, slot);
    for (uint32_t i = 0; i < layout->argument_count; i++) {
        if (!pkb_role_is_tensor(layout->arguments[i].role))
            continue;
        pkb_pattern_fill(pkb_memory_slot(memory, slot), cursor, layout->arguments[i].offset, key);
        cursor = layout->arguments[i].offset + used_bytes(memory, slot, i);
    }
    pkb_pattern_fill(pkb_memory_slot(memory, slot), cursor, layout->slot_stride, key);
}

/* Inputs come from the entry, the rest is poison. */
static void fill_image(char *image, const pkb_memory *memory, uint32_t slot, bool has_inputs)
{
    const pkb_load *load = &memory->loads[slot];
    const pkb_draw *draw = &memory->draws[load->entry];
    const char *inputs = pkb_memory_inputs(memory, load->entry);
    for (uint32_t i = 0; i < memory->layout.argument_count; i++) {
        const pkb_argument *argument = &memory->layout.arguments[i];
        if (!pkb_role_is_tensor(argument->role))
            continue;
        if (has_inputs && pkb_role_is_input(argument->role))
            memcpy(image + argument->offset, inputs + argument->offset, draw->bytes[i]);
        else
            pkb_pattern_fill(image, argument->offset,
                             argument->offset + used_bytes(memory, slot, i), load->poison_key);
    }
}

static void fill_host(pkb_memory *memory, uint32_t slot, uint32_t entry)
{
    const pkb_draw *draw = &memory->draws[entry];
    char *host = (char *)memory->host.address + slot * memory->layout.slot_stride;
    const char *inputs = pkb_memory_inputs(memory, entry);
    for (uint32_t i = 0; i < memory->layout.argument_count; i++) {
        const pkb_argument *argument = &memory->layout.arguments[i];
        if (argument->role == PKB_ROLE_HOST)
            memcpy(host + argument->offset, inputs + argument->offset, draw->bytes[i]);
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
        pkb_finding_set(finding, PKB_VERDICT_OUT_OF_BOUNDS,
                        "rank %u: memory %" PRIu64 " bytes past the end of argument %s was written",
                        rank, near.past_bytes, before->name);
    } else if (after != NULL) {
        named = after;
        pkb_finding_set(finding, PKB_VERDICT_OUT_OF_BOUNDS,
                        "rank %u: memory %" PRIu64 " bytes before argument %s was written", rank,
                        after->offset - at, after->name);
    }
    if (named != NULL)
        snprintf(finding->output, sizeof finding->output, "%s", named->name);
}

static bool find_damage(const pkb_memory *memory, uint32_t slot, uint64_t *at)
{
    const pkb_layout *layout = &memory->layout;
    const void *base = pkb_memory_slot(memory, slot);
    uint64_t cursor = 0, key = slot_guard_key(memory, slot);

    for (uint32_t i = 0; i < layout->argument_count; i++) {
        const pkb_argument *argument = &layout->arguments[i];
        if (!pkb_role_is_tensor(argument->role))
            continue;
        if (!pkb_pattern_holds(base, cursor, argument->offset, key, at))
            return true;
        cursor = argument->offset + used_bytes(memory, slot, i);
    }
    return !pkb_pattern_holds(base, cursor, layout->slot_stride, key, at);
}

void pkb_memory_verify_guards(const pkb_memory *memory, pkb_finding *finding)
{
    uint64_t at = 0;
    for (uint32_t slot = 0; slot < memory->layout.slot_count; slot++)
        if (find_damage(memory, slot, &at)) {
            report_guard(memory, slot, at, finding);
            return;
        }
}

static uint64_t first_difference(const char *a, const char *b, uint64_t bytes)
{
    uint64_t at = 0;
    while (at < bytes && a[at] == b[at])
        at++;
    return at;
}

void pkb_memory_verify_inputs(const pkb_memory *memory, uint32_t slot, pkb_finding *finding)
{
    const pkb_layout *layout = &memory->layout;
    uint32_t entry = memory->loads[slot].entry;
    const pkb_draw *draw = &memory->draws[entry];
    const char *now = pkb_memory_slot(memory, slot), *then = pkb_memory_inputs(memory, entry);

    for (uint32_t i = 0; i < layout->argument_count; i++) {
        const pkb_argument *argument = &layout->arguments[i];
        char place[160];
        if (argument->role != PKB_ROLE_IN ||
            memcmp(now + argument->offset, then + argument->offset, draw->bytes[i]) == 0)
            continue;
        uint64_t at =
            first_difference(now + argument->offset, then + argument->offset, draw->bytes[i]);
        if (!pkb_finding_set(finding, PKB_VERDICT_INPUT_MUTATED, "changed"))
            return;
        pkb_finding_place(finding, argument, draw->shape[i], at / pkb_dtype_bytes(argument->dtype));
        pkb_finding_place_text(finding, place, sizeof place);
        snprintf(finding->reason, sizeof finding->reason,
                 "rank %u: its input %s was changed, by its own kernel or a peer's; inputs are "
                 "read-only",
                 layout->rank, place);
        return;
    }
}

uint64_t pkb_memory_digest(const pkb_memory *memory, uint32_t slot)
{
    const pkb_draw *draw = &memory->draws[memory->loads[slot].entry];
    const char *base = pkb_memory_slot(memory, slot);
    uint64_t sum = memory->guard_key;
    for (uint32_t i = 0; i < memory->layout.argument_count; i++)
        if (pkb_role_is_output(memory->layout.arguments[i].role))
            sum =
                pkb_pattern_digest(base + memory->layout.arguments[i].offset, draw->bytes[i], sum);
    return sum;
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
