/* SPDX-License-Identifier: Apache-2.0
 *
 * What a cell may use up: memory of its own, of its GPU, threads. It is looked at from outside,
 * because limits of the kernel know nothing of GPUs and are not kept for root.
 */
#ifndef PKB_HARNESS_JUDGE_LIMITS_H
#define PKB_HARNESS_JUDGE_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

#include "harness/judge/memory.h"
#include "harness/judge/process.h"

typedef struct pkb_cell_limits {
    uint64_t memory_bytes; /* private and pinned, and symmetric where that is filled lazily; the
                              same for the symmetric memory of each peer */
    uint64_t pinned_start_bytes;
    uint64_t gpu_bytes, gpu_start_bytes; /* whoever uses the GPU; 0 = there is none */
    uint32_t threads;
    int scratch_fd; /* its own /tmp, borrowed; -1 = it has none */
    uint64_t next_look_ns;
    bool is_timed; /* the GPU is not asked under the clock */
    bool is_off;   /* a debugger needs a lot itself */
} pkb_cell_limits;

typedef struct pkb_cell_excess {
    char uses[96], limit[32]; /* "uses 900 MiB of memory", "800 MiB" */
} pkb_cell_excess;

/* Memory: half of what this machine can still give, shared by `world` ranks, 8 GiB at most. Where
 * that is next to nothing, no attempt can be judged: PKB_ERR_MEMORY. */
pkb_code pkb_cell_limits_choose(pkb_cell_limits *limits, uint32_t world, pkb_error *err);
/* Files are memory of the kernel that no size of a /tmp limits. */
enum { PKB_CELL_MOST_FILES = 4096 };

/* Once the cell is ready and nothing of the attempt is loaded: half of what is free on its GPU
 * then, and 256 threads beyond those that it has and the device's, one a core. */
void pkb_cell_limits_settle(pkb_cell_limits *limits, const pkb_process *process,
                            const pkb_memory *memory, uint32_t cores);
/* Before each request. Under the clock a cell is looked at only where it lasts. */
void pkb_cell_limits_begin(pkb_cell_limits *limits, bool is_timed);
/* Whether the cell is over one of them. Most calls return at once, unless `is_due`. */
bool pkb_cell_limits_exceeded(pkb_cell_limits *limits, const pkb_process *process,
                              const pkb_memory *memory, bool is_due, pkb_cell_excess *out);

#endif
