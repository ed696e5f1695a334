/* SPDX-License-Identifier: Apache-2.0
 *
 * The address plan: a window of device addresses without access rights, its backing a fixed
 * distance further on, and the 4 GiB range of shared memory. Offsets in window and backing are the
 * same. The first half of the window is the heap (heap.h), the second is for foreign memory.
 */
#ifndef PKB_CPU_DEVICE_WINDOW_H
#define PKB_CPU_DEVICE_WINDOW_H

#include "base/error.h"
#include "harness/cpu/device/device.h"

#include <stdbool.h>

enum { PKB_SHARED_WINDOW_BYTES = 256 * 1024, PKB_SHARED_WINDOWS = 16384 };

/* Reserves everything, once; later calls return the first outcome. */
pkb_code pkb_window_open(pkb_error *err);

bool pkb_window_holds(uint64_t device_address);
/* Where host code reaches a generic address: device addresses are moved, others are kept. */
void *pkb_window_translate(uint64_t address);
/* The device address of a backing address; others are kept. Async-signal-safe. */
uint64_t pkb_window_device_address(uint64_t host_address);
/* Whether a device range may be touched by a copy: all in one allocation, or all mapped. */
bool pkb_window_is_accessible(uint64_t device_address, uint64_t bytes);
/* In words where an address lies: "36 bytes after an allocation of 4096 bytes". */
void pkb_window_describe(uint64_t device_address, char *out, size_t bytes);

/* Bytes of the heap half. */
uint64_t pkb_window_heap_bytes(void);
/* Gives pages of the backing memory, zero-filled; takes them away. */
bool pkb_window_commit(uint64_t device_address, uint64_t bytes);
void pkb_window_decommit(uint64_t device_address, uint64_t bytes);

/* A free window of shared memory for a block; false when all are taken. */
bool pkb_shared_take(uint32_t *index);
void pkb_shared_give(uint32_t index);
uint32_t pkb_shared_free_count(void);

#endif
