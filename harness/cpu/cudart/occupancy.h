/* SPDX-License-Identifier: Apache-2.0
 *
 * How many blocks of a kernel one of the claimed multiprocessors would hold.
 */
#ifndef PKB_CPU_CUDART_OCCUPANCY_H
#define PKB_CPU_CUDART_OCCUPANCY_H

#include "harness/cpu/cudart/module.h"

enum {
    PKB_SM_COUNT = 132,
    PKB_SM_THREADS = 2048,
    PKB_SM_BLOCKS = 32,
    PKB_SM_REGISTERS = 65536,
    PKB_SM_SHARED_BYTES = 228 * 1024,
    PKB_BLOCK_SHARED_BYTES = 48 * 1024,
    PKB_BLOCK_SHARED_OPTIN_BYTES = 227 * 1024,
    PKB_BLOCK_SHARED_RESERVED_BYTES = 1024
};

/* Registers a thread that are assumed, since nobody allocates any here. */
uint32_t pkb_occupancy_registers(const pkb_kernel_info *info);
/* 0: does not fit at all. */
uint32_t pkb_occupancy_blocks(const pkb_kernel_info *info, uint32_t threads, size_t dynamic_bytes);

#endif
