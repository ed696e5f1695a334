/* SPDX-License-Identifier: Apache-2.0
 *
 * Host memory that CUDA knows of: pinned, registered and managed. Kernels use it at its own
 * address. Callers hold the runtime's lock.
 */
#ifndef PKB_CPU_CUDART_HOST_MEMORY_H
#define PKB_CPU_CUDART_HOST_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum pkb_host_kind { PKB_HOST_PINNED, PKB_HOST_REGISTERED, PKB_HOST_MANAGED } pkb_host_kind;

typedef struct pkb_host_range {
    uint64_t address, bytes, mapped_bytes;
    pkb_host_kind kind;
    unsigned flags;
} pkb_host_range;

/* Zero-filled and page-aligned; NULL when memory is short. */
void *pkb_host_allocate(size_t bytes, pkb_host_kind kind, unsigned flags);
bool pkb_host_register(void *memory, size_t bytes, unsigned flags);
/* The range that holds an address, NULL if none does. Valid until the next change. */
const pkb_host_range *pkb_host_find(uint64_t address);
/* Frees, or forgets a registered one. false: not the start of such a range. */
bool pkb_host_release(uint64_t address, pkb_host_kind kind);

/* Ordinary host memory: neither known here nor device memory or a device variable. */
bool pkb_host_is_pageable(uint64_t address);

#endif
