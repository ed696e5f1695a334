/* SPDX-License-Identifier: Apache-2.0
 *
 * Allocations of the device heap, as a list sorted by address.
 */
#include "harness/cpu/device/heap.h"

#include "harness/cpu/device/window.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RED_ZONE_BYTE = 0xA5, CHECKED_AT_ONCE = 128 };
#define ALIGN UINT64_C(256)
#define PAGE UINT64_C(4096)

static pkb_allocation *list;
static size_t count, capacity;
static uint64_t next_offset, used_bytes, limit_bytes = 80ull << 30;

/* Index of the first allocation whose pages start above `address`. */
static size_t upper_bound(uint64_t address)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (list[middle].pages_start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_free(uint64_t start, uint64_t bytes, size_t *index)
{
    *index = upper_bound(start);
    if (*index > 0 && list[*index - 1].pages_start + list[*index - 1].pages_bytes + PAGE > start)
        return false;
    return *index == count || list[*index].pages_start >= start + bytes + PAGE;
}

/* A free range of pages with an inaccessible page on both sides. Goes on where the last search
 * ended, so freed addresses stay invalid for long. */
static bool find_place(uint64_t bytes, uint64_t *start, size_t *index)
{
    uint64_t heap = pkb_window_heap_bytes();

    if (bytes > heap - 3 * PAGE)
        return false;
    if (next_offset == 0 || next_offset + bytes + 2 * PAGE > heap)
        next_offset = PAGE;
    for (size_t tries = 0; tries <= count + 1; tries++) {
        uint64_t candidate = pkb_window_base + next_offset;
        if (next_offset + bytes + 2 * PAGE <= heap && is_free(candidate, bytes, index)) {
            *start = candidate;
            next_offset += bytes + PAGE;
            return true;
        }
        size_t behind = upper_bound(candidate + bytes + PAGE);
        if (behind == 0 || next_offset + bytes + 2 * PAGE > heap)
            next_offset = PAGE;
        else
            next_offset = list[behind - 1].pages_start + list[behind - 1].pages_bytes + PAGE -
                          pkb_window_base;
    }
    return false;
}

static bool insert(size_t index, const pkb_allocation *allocation)
{
    if (count == capacity) {
        size_t larger = capacity == 0 ? 64 : capacity * 2;
        pkb_allocation *grown = realloc(list, larger * sizeof *grown);
        if (grown == NULL)
            return false;
        list = grown;
        capacity = larger;
    }
    memmove(&list[index + 1], &list[index], (count - index) * sizeof *list);
    list[index] = *allocation;
    count++;
    return true;
}

static uint8_t *red_zone(const pkb_allocation *a, size_t *bytes)
{
    uint64_t end = a->address + a->bytes;
    *bytes = (size_t)(a->pages_start + a->pages_bytes - end);
    return pkb_window_translate(end);
}

bool pkb_heap_allocate(uint64_t bytes, uint64_t *device_address)
{
    if (bytes == 0 || bytes > limit_bytes || used_bytes > limit_bytes - bytes)
        return false;

    uint64_t kept = (bytes + ALIGN - 1) / ALIGN * ALIGN;
    uint64_t pages = (kept + PAGE - 1) / PAGE * PAGE;
    pkb_allocation a = {.bytes = bytes, .pages_bytes = pages};
    size_t index = 0, zone_bytes = 0;

    if (!find_place(pages, &a.pages_start, &index) || !pkb_window_commit(a.pages_start, pages))
        return false;
    a.address = a.pages_start + pages - kept;
    if (!insert(index, &a)) {
        pkb_window_decommit(a.pages_start, pages);
        return false;
    }
    uint8_t *zone = red_zone(&a, &zone_bytes);
    memset(zone, RED_ZONE_BYTE, zone_bytes);
    used_bytes += bytes;
    *device_address = a.address;
    return true;
}

const pkb_allocation *pkb_heap_find(uint64_t device_address)
{
    size_t index = upper_bound(device_address);

    if (index == 0)
        return NULL;
    const pkb_allocation *a = &list[index - 1];
    return device_address >= a->address && device_address - a->address < a->bytes ? a : NULL;
}

bool pkb_heap_free(uint64_t device_address)
{
    size_t index = upper_bound(device_address);

    if (index == 0 || list[index - 1].address != device_address)
        return false;
    pkb_allocation *a = &list[index - 1];
    pkb_window_decommit(a->pages_start, a->pages_bytes);
    used_bytes -= a->bytes;
    memmove(a, a + 1, (count - index) * sizeof *list);
    count--;
    return true;
}

const pkb_allocation *pkb_heap_find_overrun(void)
{
    static size_t cursor;

    for (size_t i = 0; i < count && i < CHECKED_AT_ONCE; i++) {
        size_t zone_bytes = 0;
        cursor = cursor + 1 < count ? cursor + 1 : 0;
        const uint8_t *zone = red_zone(&list[cursor], &zone_bytes);
        for (size_t b = 0; b < zone_bytes; b++)
            if (zone[b] != RED_ZONE_BYTE)
                return &list[cursor];
    }
    return NULL;
}

void pkb_heap_set_limit(uint64_t bytes)
{
    limit_bytes = bytes;
}

uint64_t pkb_heap_limit(void)
{
    return limit_bytes;
}

uint64_t pkb_heap_used(void)
{
    return used_bytes;
}

void pkb_heap_describe(uint64_t device_address, char *out, size_t bytes)
{
    size_t index = upper_bound(device_address);
    const pkb_allocation *a = index > 0 ? &list[index - 1] : NULL;
    const pkb_allocation *above = index < count ? &list[index] : NULL;

    if (a != NULL && device_address - (a->address + a->bytes) < 1u << 20)
        snprintf(out, bytes, "%llu bytes after the end of an allocation of %llu bytes",
                 (unsigned long long)(device_address - (a->address + a->bytes)),
                 (unsigned long long)a->bytes);
    else if (above != NULL && above->address - device_address < 1u << 20)
        snprintf(out, bytes, "%llu bytes before an allocation of %llu bytes",
                 (unsigned long long)(above->address - device_address),
                 (unsigned long long)above->bytes);
    else
        snprintf(out, bytes, "in no allocation; freed, or far outside one");
}
