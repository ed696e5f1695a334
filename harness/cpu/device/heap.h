/* SPDX-License-Identifier: Apache-2.0
 *
 * The device heap behind cudaMalloc: zero-filled allocations that end at an inaccessible page, so
 * that reading or writing past the end faults; the few bytes between the end and that page hold a
 * pattern that is checked. Addresses are not used again soon. Callers hold the runtime's lock.
 */
#ifndef PKB_CPU_DEVICE_HEAP_H
#define PKB_CPU_DEVICE_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct pkb_allocation {
    uint64_t address, bytes; /* as asked for */
    uint64_t pages_start, pages_bytes;
    bool is_managed;
} pkb_allocation;

/* A 256-aligned device address; false when the limit or memory is exhausted. */
bool pkb_heap_allocate(uint64_t bytes, uint64_t *device_address);
/* false: not the start of an allocation. */
bool pkb_heap_free(uint64_t device_address);
/* The allocation that holds an address, NULL if none does. Valid until the next change. */
const pkb_allocation *pkb_heap_find(uint64_t device_address);
/* An allocation whose red zone was overwritten, NULL if none was. Of many allocations each call
 * looks at the next 128. */
const pkb_allocation *pkb_heap_find_overrun(void);

void pkb_heap_set_limit(uint64_t bytes);
uint64_t pkb_heap_limit(void);
uint64_t pkb_heap_used(void);

void pkb_heap_describe(uint64_t device_address, char *out, size_t bytes);

#endif
