/* SPDX-License-Identifier: Apache-2.0
 *
 * What differs between devices in a cell: the address plan and what is known about a fault. All
 * else goes through the CUDA runtime API (runtime.h).
 */
#ifndef PKB_HARNESS_CELL_DEVICE_H
#define PKB_HARNESS_CELL_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "harness/cell/runtime.h"
#include "harness/memory/page.h"

typedef struct pkb_device_limits {
    uint64_t memory_bytes; /* 0 = none */
    uint32_t rank_count, core_count;
} pkb_device_limits;

typedef struct pkb_device {
    const char *name;
    /* Address space without memory in it. */
    pkb_code (*reserve)(uint64_t bytes, uint64_t *address, pkb_error *err);
    /* Memory that a judge made, at a reserved address, for kernels and copies. */
    pkb_code (*map)(uint64_t address, int fd, uint64_t bytes, pkb_error *err);
    /* Before the attempt is loaded: where its device code is, limits, and the page that learns of
     * host faults and of threads that wait. */
    void (*prepare)(const char *device_module, const pkb_device_limits *limits, pkb_page *page);
    /* Writes what is known of the last fault into the page; true if the device cannot run it. */
    bool (*explain)(pkb_page *page);
} pkb_device;

/* The device behind this libcudart. */
pkb_code pkb_device_find(const pkb_device **out, const pkb_runtime *runtime, pkb_error *err);

#endif
