/* SPDX-License-Identifier: Apache-2.0
 *
 * Looks at what a cell uses; see limits.h.
 */
#include "harness/judge/limits.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "base/clock.h"

enum { THREADS = 256 };
#define LOOK_NS (20 * PKB_NS_PER_MS)
#define TIMED_LOOK_NS (200 * PKB_NS_PER_MS) /* a batch lasts 50 ms */
#define MEMORY_TOP_BYTES (UINT64_C(8) << 30)
#define MEMORY_LEAST_BYTES (UINT64_C(64) << 20)

pkb_code pkb_cell_limits_choose(pkb_cell_limits *limits, uint32_t world, pkb_error *err)
{
    const uint64_t available = pkb_process_available_bytes(), bytes = available / 2 / world;

    if (available > 0 && bytes < MEMORY_LEAST_BYTES)
        return pkb_error_set(err, PKB_ERR_MEMORY, 0,
                             "memory is short: %" PRIu64 " MiB are free for %" PRIu32
                             " ranks, and each needs %" PRIu64 " MiB for its attempt and as much "
                             "beside it; end other programs",
                             available >> 20, world, MEMORY_LEAST_BYTES >> 20);
    *limits = (pkb_cell_limits){
        .scratch_fd = -1,
        .memory_bytes = available == 0 || bytes > MEMORY_TOP_BYTES ? MEMORY_TOP_BYTES : bytes};
    return PKB_OK;
}

void pkb_cell_limits_settle(pkb_cell_limits *limits, const pkb_process *process,
                            const pkb_memory *memory, uint32_t cores)
{
    pkb_process_usage usage = {0};
    pkb_process_look(process, &usage);
    limits->threads = usage.threads + cores + THREADS;
    limits->pinned_start_bytes = usage.shared_bytes;
    if (memory->device->used_bytes == NULL)
        return;
    limits->gpu_start_bytes = memory->device->used_bytes();
    limits->gpu_bytes = memory->device->available_bytes(memory->layout.world);
}

void pkb_cell_limits_begin(pkb_cell_limits *limits, bool is_timed)
{
    limits->is_timed = is_timed;
    limits->next_look_ns = pkb_clock_now_ns() + (is_timed ? TIMED_LOOK_NS : LOOK_NS);
}

static uint64_t file_bytes(int fd)
{
    struct stat facts;
    return fstat(fd, &facts) == 0 ? (uint64_t)facts.st_blocks * 512 : 0;
}

/* Pinned memory is shared memory of the cell's own; some of what it shares is ours. Without a GPU a
 * cell can make none. */
static uint64_t pinned_bytes(const pkb_cell_limits *limits, const pkb_process_usage *usage,
                             const pkb_memory *memory)
{
    const uint64_t ours = limits->pinned_start_bytes + file_bytes(memory->host.fd) +
                          file_bytes(memory->values.fd) + file_bytes(memory->layout_region.fd);
    if (memory->device->is_sparse)
        return 0;
    return usage->shared_bytes > ours ? usage->shared_bytes - ours : 0;
}

static bool say_bytes(pkb_cell_excess *out, uint64_t used, const char *what, uint64_t limit)
{
    if (used <= limit)
        return false;
    snprintf(out->uses, sizeof out->uses, "uses %" PRIu64 " MiB of %s", used >> 20, what);
    snprintf(out->limit, sizeof out->limit, "%" PRIu64 " MiB", limit >> 20);
    return true;
}

/* A rank may fill its peers' symmetric memory as well, whose own judges look only while their cells
 * work. */
static bool is_peer_full(const pkb_cell_limits *limits, const pkb_memory *memory,
                         pkb_cell_excess *out)
{
    char what[40];

    for (uint32_t rank = 0; rank < memory->layout.world; rank++) {
        snprintf(what, sizeof what, "rank %" PRIu32 "'s symmetric memory", rank);
        if (say_bytes(out, file_bytes(memory->arenas[2 * rank + 1]), what, limits->memory_bytes))
            return true;
    }
    return false;
}

static bool has_many_files(const pkb_cell_limits *limits, pkb_cell_excess *out)
{
    struct statfs facts;

    if (limits->scratch_fd < 0 || fstatfs(limits->scratch_fd, &facts) != 0 ||
        facts.f_files - facts.f_ffree <= PKB_CELL_MOST_FILES)
        return false;
    snprintf(out->uses, sizeof out->uses, "holds %" PRIu64 " files",
             (uint64_t)(facts.f_files - facts.f_ffree));
    snprintf(out->limit, sizeof out->limit, "%d", PKB_CELL_MOST_FILES);
    return true;
}

static bool is_gpu_full(const pkb_cell_limits *limits, const pkb_memory *memory,
                        pkb_cell_excess *out)
{
    if (limits->gpu_bytes == 0 || limits->is_timed)
        return false;
    const uint64_t used = memory->device->used_bytes();
    return used > limits->gpu_start_bytes &&
           say_bytes(out, used - limits->gpu_start_bytes, "its GPU's memory", limits->gpu_bytes);
}

bool pkb_cell_limits_exceeded(pkb_cell_limits *limits, const pkb_process *process,
                              const pkb_memory *memory, bool is_due, pkb_cell_excess *out)
{
    const uint64_t now_ns = pkb_clock_now_ns();
    pkb_process_usage usage = {0};

    if (limits->is_off || (!is_due && now_ns < limits->next_look_ns))
        return false;
    limits->next_look_ns = now_ns + LOOK_NS;
    if (!pkb_process_look(process, &usage))
        return false;
    if (usage.threads > limits->threads) {
        snprintf(out->uses, sizeof out->uses, "runs %" PRIu32 " threads", usage.threads);
        snprintf(out->limit, sizeof out->limit, "%" PRIu32, limits->threads);
        return true;
    }
    const uint64_t bytes = usage.private_bytes + pinned_bytes(limits, &usage, memory) +
                           file_bytes(memory->symmetric.fd);
    return say_bytes(out, bytes, "memory", limits->memory_bytes) ||
           is_peer_full(limits, memory, out) || has_many_files(limits, out) ||
           is_gpu_full(limits, memory, out);
}
