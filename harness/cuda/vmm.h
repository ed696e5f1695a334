/* SPDX-License-Identifier: Apache-2.0
 *
 * Physical memory of a GPU that travels between processes as a file descriptor, and the addresses
 * at which it is mapped (CUDA's virtual memory management). Every size is rounded up to the
 * granularity, on both sides alike. A context must be current (pkb_driver_use).
 */
#ifndef PKB_HARNESS_CUDA_VMM_H
#define PKB_HARNESS_CUDA_VMM_H

#include <stddef.h>
#include <stdint.h>

#include "harness/cuda/driver.h"

typedef struct pkb_vmm_memory { /* of one device; {0} = none */
    uint64_t handle;
    uint64_t bytes; /* rounded up */
    int device;     /* that holds it; -1 where it was imported */
} pkb_vmm_memory;

/* Sizes and addresses are multiples of this. */
pkb_code pkb_vmm_granularity(const pkb_driver *driver, int device, uint64_t *out, pkb_error *err);

/* `bytes` (> 0) of memory on the device, not mapped and of unknown contents: it may hold what
 * another process left. Freed once it is released everywhere, unmapped everywhere, and every
 * descriptor of it is closed. */
pkb_code pkb_vmm_create(pkb_vmm_memory *out, const pkb_driver *driver, int device, uint64_t bytes,
                        pkb_error *err);
/* A descriptor for other processes; the caller closes it. Close-on-exec. */
pkb_code pkb_vmm_export(int *fd, const pkb_driver *driver, const pkb_vmm_memory *memory,
                        pkb_error *err);
/* What another process exported; `bytes` as it was created, `device` any that this process sees.
 * The descriptor stays the caller's and may be closed. */
pkb_code pkb_vmm_import(pkb_vmm_memory *out, const pkb_driver *driver, int device, int fd,
                        uint64_t bytes, pkb_error *err);
/* Mappings of it stay valid. Harmless on {0}. */
void pkb_vmm_release(const pkb_driver *driver, pkb_vmm_memory *memory);

/* Addresses without memory behind them, aligned to the granularity of `device`. */
pkb_code pkb_vmm_reserve(uint64_t *address, const pkb_driver *driver, int device, uint64_t bytes,
                         pkb_error *err);
void pkb_vmm_unreserve(const pkb_driver *driver, int device, uint64_t address, uint64_t bytes);

/* Maps all of `memory` at a reserved address, for reading and writing by each of `devices`. */
pkb_code pkb_vmm_map(const pkb_driver *driver, const pkb_vmm_memory *memory, uint64_t address,
                     const int *devices, size_t device_count, pkb_error *err);
/* Waits for nothing: whoever still uses the addresses faults. */
pkb_code pkb_vmm_unmap(const pkb_driver *driver, const pkb_vmm_memory *memory, uint64_t address,
                       pkb_error *err);

#endif
