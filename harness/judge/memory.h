/* SPDX-License-Identifier: Apache-2.0
 *
 * One rank's memory for one size: slots, symmetric memory, staging, host arguments, values and the
 * pool of draws with their expectations. Fills slots, and tells what an attempt changed in them
 * that it must not change.
 *
 * A slot's bytes are either used by an argument of this rank or guard: guard bytes hold a keyed
 * pattern, and so do outputs before a call (poison, with another key each time).
 */
#ifndef PKB_HARNESS_JUDGE_MEMORY_H
#define PKB_HARNESS_JUDGE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "harness/judge/device.h"
#include "harness/judge/finding.h"
#include "harness/memory/cell_open.h"
#include "harness/memory/layout.h"
#include "harness/memory/region.h"

/* What a pool entry holds beside its images: values that are no tensors, and the shapes of this
 * rank's arguments where drawn dims make them smaller than the layout's. */
typedef struct pkb_draw {
    uint32_t family; /* index in the plan's size */
    pkb_slot_values values;
    uint64_t shape[PKB_MAX_ARGUMENTS][PKB_MAX_SHAPE];
    uint64_t bytes[PKB_MAX_ARGUMENTS];
} pkb_draw;

typedef struct pkb_load { /* what a slot was filled with */
    uint32_t entry;
    uint64_t poison_key;
    bool is_staged;  /* the cell itself brings inputs in and overwrites all arguments */
    bool is_settled; /* a call ended on it; `digest` is of its outputs */
    uint64_t digest;
} pkb_load;

typedef struct pkb_memory {
    const pkb_judge_device *device; /* slots, symmetric memory, staging and pool lie there */
    pkb_layout layout;
    pkb_region layout_region, slots, symmetric, staging, host, values, pool;
    int arenas[2 * PKB_MAX_RANKS]; /* slots and symmetric memory of all ranks; owned; -1 = none */
    pkb_draw *draws;               /* entry_count */
    pkb_load loads[PKB_MAX_SLOTS];
    uint64_t guard_key;
    pkb_span *spans; /* room for the guards of all slots */
} pkb_memory;

/* Bytes that slots, staging and entries take on this rank: what is touched of them where memory is
 * sparse, else all, symmetric memory included. */
uint64_t pkb_memory_needed_bytes(const pkb_layout *layout, bool is_sparse);

/* Makes all regions of a placed layout; the caller frees. Arenas of peers come by the meeting. */
pkb_code pkb_memory_create(pkb_memory **out, const pkb_judge_device *device,
                           const pkb_layout *layout, uint64_t guard_key, pkb_error *err);
void pkb_memory_free(pkb_memory *memory);

/* Symmetric memory and staging read zero again: nothing of one attempt reaches the next. Of a slot
 * every byte is filled anyway, between what staging holds there is room that nobody fills. */
pkb_code pkb_memory_forget(pkb_memory *memory, pkb_error *err);

/* Parts of a pool entry, and slots: addresses of the device. */
void *pkb_memory_inputs(const pkb_memory *memory, uint32_t entry);
void *pkb_memory_reference(const pkb_memory *memory, uint32_t entry);
void *pkb_memory_oracle(const pkb_memory *memory, uint32_t entry);
void *pkb_memory_slot(const pkb_memory *memory, uint32_t slot);
void *pkb_memory_staged(const pkb_memory *memory, uint32_t slot);

/* Fills a slot from an entry: guards, inputs, poisoned outputs, host arguments and values. */
void pkb_memory_load(pkb_memory *memory, uint32_t slot, uint32_t entry, uint64_t poison_key);
/* The same for a chain: inputs lie in staging, all of the slot's arguments are poison. */
void pkb_memory_stage(pkb_memory *memory, uint32_t slot, uint32_t entry, uint64_t poison_key);

/* For set-up: host arguments and values of an entry; all tensors are poison, here and staged. */
void pkb_memory_blank(pkb_memory *memory, uint32_t slot, uint32_t entry, uint64_t poison_key);

/* A call on the slot has ended: remembers what its outputs are. */
void pkb_memory_settle(pkb_memory *memory, uint32_t slot);
/* Whether outputs of settled slots changed since: STATE_REPLAY for another slot than `current`,
 * whose addresses were kept from an earlier call; WRONG_OUTPUT for `current` itself. */
void pkb_memory_verify_outputs(const pkb_memory *memory, uint32_t current, pkb_finding *finding);

/* Whether guard zones still hold their pattern: OUT_OF_BOUNDS. Looks at every slot. */
void pkb_memory_verify_guards(const pkb_memory *memory, pkb_finding *finding);
/* Whether a loaded slot's inputs are what they were: INPUT_MUTATED. */
void pkb_memory_verify_inputs(const pkb_memory *memory, uint32_t slot, pkb_finding *finding);

/* A sum over all outputs of a loaded slot. */
uint64_t pkb_memory_digest(const pkb_memory *memory, uint32_t slot);

#endif
