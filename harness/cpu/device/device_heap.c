/* SPDX-License-Identifier: Apache-2.0
 *
 * Device malloc on top of the C library's. A header with a check word tells our blocks from wild
 * pointers, which end the kernel instead of corrupting the process.
 */
#include "harness/cpu/device/device_heap.h"

#include "harness/cpu/device/fault.h"

#include <stdlib.h>

static const uint64_t live_word = 0x706b625f6865c0de, freed_word = 0x706b625f64656164;

typedef struct header {
    uint64_t bytes, word;
} header;

static uint64_t used_bytes, limit_bytes = 8u << 20;

void pkb_device_heap_set_limit(uint64_t bytes)
{
    limit_bytes = bytes;
}

uint64_t pkb_device_heap_limit(void)
{
    return limit_bytes;
}

uint64_t pkb_device_malloc(pkb_thread *thread, uint64_t bytes)
{
    (void)thread;
    if (bytes == 0 || bytes > limit_bytes || used_bytes > limit_bytes - bytes)
        return 0;
    header *h = malloc(sizeof *h + bytes);
    if (h == NULL)
        return 0;
    *h = (header){bytes, live_word};
    used_bytes += bytes;
    return (uint64_t)(uintptr_t)(h + 1);
}

void pkb_device_free(pkb_thread *thread, uint64_t address)
{
    if (address == 0)
        return;
    header *h = (header *)(uintptr_t)address - 1;
    if (address % 16 != 0 || h->word != live_word)
        pkb_fault_raise(
            thread, PKB_CPU_FAULT_TRAP, "free of 0x%llx: %s", (unsigned long long)address,
            address % 16 == 0 && h->word == freed_word ? "freed twice" : "not from device malloc");
    used_bytes -= h->bytes;
    h->word = freed_word;
    free(h);
}
