/* SPDX-License-Identifier: Apache-2.0
 *
 * Which block runs. New blocks are started only when all live ones merely spin, so ordinary
 * kernels run block by block in cache, and kernels that wait for other blocks widen to as many
 * blocks as a GPU would hold; a barrier over more than those hangs, as on a GPU.
 */
#include "harness/cpu/device/grid.h"

#include "harness/cpu/device/fault.h"
#include "harness/cpu/device/fiber.h"
#include "harness/cpu/device/window.h"

#include <stdlib.h>
#include <string.h>
#include <xmmintrin.h>

enum { SM_COUNT = 132, STACK_BASE_BYTES = 24 * 1024, PARAM_ALIGN = 128, DEFAULT_MXCSR = 0x1f80 };

static _Thread_local pkb_grid *current __attribute__((tls_model("initial-exec")));
static uint64_t last_id;

pkb_grid *pkb_grid_current(void)
{
    return current;
}

pkb_grid *pkb_grid_create(const pkb_launch *launch)
{
    pkb_grid *grid = aligned_alloc(_Alignof(pkb_grid), sizeof *grid);
    uint32_t param_bytes = launch->kernel->param_bytes;

    if (grid == NULL)
        return NULL;
    memset(grid, 0, sizeof *grid);
    grid->launch = *launch;
    /* Kernels may take the address of a parameter that is aligned, a tensor map for one. */
    size_t padded = ((size_t)param_bytes / PARAM_ALIGN + 1) * PARAM_ALIGN;
    grid->params = aligned_alloc(PARAM_ALIGN, padded);
    if (grid->params == NULL) {
        free(grid);
        return NULL;
    }
    memset(grid->params, 0, padded);
    if (param_bytes > 0)
        memcpy(grid->params, launch->params, param_bytes);
    grid->launch.params = grid->params;
    grid->stack_bytes = STACK_BASE_BYTES + launch->kernel->stack_bytes;
    grid->block_total = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
    grid->id = ++last_id;
    return grid;
}

static uint32_t threads_of(const pkb_grid *grid)
{
    return grid->launch.block[0] * grid->launch.block[1] * grid->launch.block[2];
}

static uint32_t align_up(uint32_t value, uint32_t align)
{
    return align <= 1 ? value : (value + align - 1) / align * align;
}

static pkb_thread make_prototype(const pkb_grid *grid, uint64_t index, uint32_t window)
{
    const pkb_launch *l = &grid->launch;
    uint32_t base = window * PKB_SHARED_WINDOW_BYTES;
    uint32_t fixed = align_up(PKB_SHARED_RESERVED + l->kernel->static_shared_bytes,
                              l->kernel->dynamic_shared_align);
    uint64_t row = index / l->grid[0];

    return (pkb_thread){
        .ntid = {l->block[0], l->block[1], l->block[2]},
        .ctaid = {(uint32_t)(index % l->grid[0]), (uint32_t)(row % l->grid[1]),
                  (uint32_t)(row / l->grid[1])},
        .nctaid = {l->grid[0], l->grid[1], l->grid[2]},
        .smid = window % SM_COUNT,
        .shared_base = base,
        .dynamic_shared = base + fixed,
        .dynamic_shared_bytes = l->dynamic_shared_bytes,
        .total_shared_bytes = fixed + l->dynamic_shared_bytes,
        .grid_workspace = (uint64_t)(uintptr_t)grid->workspace,
        .grid_id = grid->id,
    };
}

static pkb_block *take_block(pkb_grid *grid)
{
    pkb_block *block = grid->free_blocks;

    if (block != NULL) {
        grid->free_blocks = block->next;
        return block;
    }
    return malloc(sizeof *block + threads_of(grid) * sizeof block->fibers[0]);
}

/* Puts a new block before the cursor and moves the cursor to it. NULL: no memory or window now. */
static pkb_block *start_block(pkb_grid *grid)
{
    uint32_t window = 0;
    pkb_block *block = take_block(grid);

    if (block == NULL)
        return NULL;
    if (!pkb_shared_take(&window)) {
        block->next = grid->free_blocks;
        grid->free_blocks = block;
        return NULL;
    }
    pkb_thread prototype = make_prototype(grid, grid->started_count, window);
    pkb_block_init(block, grid, &prototype, threads_of(grid));
    block->window = window;
    memset((void *)(uintptr_t)(pkb_shared_range + prototype.shared_base), 0, PKB_SHARED_RESERVED);

    if (grid->cursor == NULL) {
        block->next = block->previous = block;
    } else {
        block->next = grid->cursor;
        block->previous = grid->cursor->previous;
        block->previous->next = block;
        block->next->previous = block;
    }
    grid->cursor = block;
    grid->started_count++;
    grid->live_count++;
    return block;
}

/* Takes a block out of the ring; the cursor goes to the next one. */
static void retire_block(pkb_grid *grid, pkb_block *block)
{
    grid->cursor = block->next == block ? NULL : block->next;
    block->next->previous = block->previous;
    block->previous->next = block->next;
    pkb_shared_give(block->window);
    block->next = grid->free_blocks;
    grid->free_blocks = block;
    grid->live_count--;
}

static void abandon_all(pkb_grid *grid)
{
    while (grid->cursor != NULL) {
        pkb_block_abandon(grid->cursor);
        retire_block(grid, grid->cursor);
    }
}

void pkb_grid_free(pkb_grid *grid)
{
    if (grid == NULL)
        return;
    abandon_all(grid);
    while (grid->free_blocks != NULL) {
        pkb_block *next = grid->free_blocks->next;
        free(grid->free_blocks);
        grid->free_blocks = next;
    }
    free(grid->params);
    free(grid);
}

static bool may_start(const pkb_grid *grid)
{
    return grid->started_count < grid->block_total &&
           grid->live_count < grid->launch.resident_limit && pkb_shared_free_count() > 0;
}

static pkb_grid_outcome fail(pkb_grid *grid)
{
    abandon_all(grid);
    pkb_fault_finish();
    return PKB_GRID_FAULTED;
}

/* Goes on to other blocks after one that spins; true when a whole round brought nothing. */
static bool note_spinning(pkb_grid *grid, const pkb_block *block)
{
    grid->cursor = block->next;
    if (block->has_progress && block->visit_yields < block->thread_count)
        grid->quiet_visits = 0;
    grid->quiet_visits++;
    return grid->live_count == 0 || grid->quiet_visits % grid->live_count == 0;
}

static pkb_grid_outcome run(pkb_grid *grid)
{
    while (grid->live_count > 0 || grid->started_count < grid->block_total) {
        pkb_block *block = may_start(grid) ? start_block(grid) : grid->cursor;
        if (block == NULL)
            block = grid->cursor;
        if (block == NULL)
            return PKB_GRID_IDLE; /* other grids hold all windows, or memory is short */

        switch (pkb_block_run(block)) {
        case PKB_BLOCK_FINISHED:
            retire_block(grid, block);
            grid->quiet_visits = 0;
            break;
        case PKB_BLOCK_SPINNING:
            if (note_spinning(grid, block) && !may_start(grid))
                return PKB_GRID_IDLE;
            break;
        case PKB_BLOCK_STUCK:
            pkb_fault_record_deadlock(block);
            return fail(grid);
        case PKB_BLOCK_FAULTED:
            return fail(grid);
        }
    }
    return PKB_GRID_DONE;
}

pkb_grid_outcome pkb_grid_run(pkb_grid *grid)
{
    pkb_grid *outer = current;

    /* Host code may have chosen another rounding mode, or to flush subnormal numbers. */
    unsigned host_mxcsr = _mm_getcsr();

    pkb_fault_catch_signals();
    _mm_setcsr(DEFAULT_MXCSR);
    current = grid;
    pkb_grid_outcome outcome = run(grid);
    current = outer;
    _mm_setcsr(host_mxcsr);
    return outcome;
}

const pkb_fiber *pkb_grid_spinner(const pkb_grid *grid)
{
    const pkb_block *block = grid->cursor;

    for (uint64_t i = 0; i < grid->live_count; i++, block = block->next)
        if (block->spinning.head != NULL)
            return block->spinning.head;
    return NULL;
}
