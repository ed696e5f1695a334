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
    bool keeps_descriptors; /* its driver works through open files */
    /* Address space without memory in it. */
    pkb_code (*reserve)(uint64_t bytes, uint64_t *address, pkb_error *err);
    /* Memory that a judge made, at a reserved address, for kernels and copies. */
    pkb_code (*map)(uint64_t address, int fd, uint64_t bytes, pkb_error *err);
    /* Nothing may use it any more. The addresses stay reserved: nobody gets them again. */
    pkb_code (*unmap)(uint64_t address, uint64_t bytes, pkb_error *err);
    /* Before the attempt is loaded and before system calls are filtered: where its device code is,
     * limits, and the page that learns of host faults and of threads that wait. */
    pkb_code (*prepare)(const char *device_module, const pkb_device_limits *limits, pkb_page *page,
                        pkb_error *err);
    /* Launches an empty kernel on a stream: 0 or the CUDA error. NULL: nothing to claim. */
    int (*claim)(void *stream);
    /* Writes what is known of the last fault (page->cuda_error) into the page; true if the device
     * cannot run the attempt. */
    bool (*explain)(pkb_page *page);
} pkb_device;

/* The device behind this libcudart: one of the two below. */
pkb_code pkb_device_find(const pkb_device **out, const pkb_runtime *runtime, pkb_error *err);

pkb_code pkb_cpu_device_find(const pkb_device **out, const pkb_runtime *runtime, pkb_error *err);
pkb_code pkb_cuda_device_find(const pkb_device **out, pkb_error *err);

#endif
