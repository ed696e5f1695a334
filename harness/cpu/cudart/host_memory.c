/* SPDX-License-Identifier: Apache-2.0
 *
 * The list of known host ranges. Programs have few; it is searched from its end.
 */
#include "harness/cpu/cudart/host_memory.h"

#include "harness/cpu/device/window.h"

#include <stdlib.h>
#include <sys/mman.h>

static pkb_host_range *ranges;
static size_t range_count, range_capacity;

static bool add(const pkb_host_range *range)
{
    if (range_count == range_capacity) {
        size_t larger = range_capacity == 0 ? 32 : range_capacity * 2;
        pkb_host_range *grown = realloc(ranges, larger * sizeof *grown);
        if (grown == NULL)
            return false;
        ranges = grown;
        range_capacity = larger;
    }
    ranges[range_count++] = *range;
    return true;
}

void *pkb_host_allocate(size_t bytes, pkb_host_kind kind, unsigned flags)
{
    size_t mapped = (bytes + 4095) / 4096 * 4096;
    void *memory = mmap(NULL, mapped, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        return NULL;
    pkb_host_range range = {(uint64_t)(uintptr_t)memory, bytes, mapped, kind, flags};
    if (!add(&range)) {
        munmap(memory, mapped);
        return NULL;
    }
    return memory;
}

bool pkb_host_register(void *memory, size_t bytes, unsigned flags)
{
    pkb_host_range range = {(uint64_t)(uintptr_t)memory, bytes, 0, PKB_HOST_REGISTERED, flags};
    return add(&range);
}

const pkb_host_range *pkb_host_find(uint64_t address)
{
    for (size_t i = range_count; i-- > 0;)
        if (address - ranges[i].address < ranges[i].bytes)
            return &ranges[i];
    return NULL;
}

bool pkb_host_release(uint64_t address, pkb_host_kind kind)
{
    for (size_t i = range_count; i-- > 0;) {
        if (ranges[i].address != address || ranges[i].kind != kind)
            continue;
        if (kind != PKB_HOST_REGISTERED)
            munmap((void *)(uintptr_t)address, ranges[i].mapped_bytes);
        ranges[i] = ranges[--range_count];
        return true;
    }
    return false;
}

bool pkb_host_is_pageable(uint64_t address)
{
    return !pkb_window_holds(address) && pkb_host_find(address) == NULL;
}
