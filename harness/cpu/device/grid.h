/* SPDX-License-Identifier: Apache-2.0
 *
 * One kernel launch in execution. A grid can be left when it only spins and be continued later, so
 * the state is all here and nothing is kept on the caller's stack.
 */
#ifndef PKB_CPU_DEVICE_GRID_H
#define PKB_CPU_DEVICE_GRID_H

#include "harness/cpu/device/block.h"

typedef struct pkb_launch {
    const pkb_kernel_info *kernel;
    const pkb_device_module_info *module;
    uint32_t grid[3], block[3];
    uint32_t dynamic_shared_bytes;
    uint64_t resident_limit; /* blocks that may live at once, at least 1 */
    const uint8_t *params;   /* kernel->param_bytes, copied */
} pkb_launch;

typedef struct pkb_grid {
    pkb_launch launch;
    uint8_t *params;
    size_t stack_bytes;
    uint64_t block_total, started_count, live_count;
    pkb_block *cursor;       /* in the ring of live blocks; NULL when none lives */
    pkb_block *free_blocks;  /* linked by next, for reuse */
    uint64_t quiet_visits;   /* of blocks in a row that brought nothing */
    void *scheduler_context; /* pkb_block_run, while a fiber runs */
    pkb_fiber *running;      /* for the signal handler and faults */
    bool has_faulted;
    uint64_t id;
    _Alignas(64) uint8_t workspace[256]; /* zeroed; cooperative groups keep the grid barrier here */
} pkb_grid;

typedef enum pkb_grid_outcome {
    PKB_GRID_DONE,
    PKB_GRID_IDLE,   /* a full round of all live blocks brought nothing: run it again later */
    PKB_GRID_FAULTED /* see fault.h; the blocks are gone */
} pkb_grid_outcome;

/* NULL when memory is short. Freed by pkb_grid_free at any time. */
pkb_grid *pkb_grid_create(const pkb_launch *launch);
void pkb_grid_free(pkb_grid *grid);

pkb_grid_outcome pkb_grid_run(pkb_grid *grid);

/* A spinning fiber of an idle grid, NULL when there is none. */
const pkb_fiber *pkb_grid_spinner(const pkb_grid *grid);

/* The grid that runs on this host thread, NULL in host code. Async-signal-safe. */
pkb_grid *pkb_grid_current(void);

#endif
