/* SPDX-License-Identifier: Apache-2.0
 *
 * The run queues of a block. Order: woken fibers first, then threads that never ran, then those
 * that yielded (once around), then lanes parked in activemask. So threads that need nobody run one
 * after another on one stack, and a block is left only when all its runnable threads spin.
 */
#include "harness/cpu/device/block.h"

#include "harness/cpu/device/fault.h"
#include "harness/cpu/device/fiber.h"
#include "harness/cpu/device/grid.h"

#include <string.h>

/* Visits end after this many yields a thread even if fibers keep waking one another: a wait loop
 * that holds a barrier would otherwise never let go of the core. */
enum { VISIT_YIELDS = 8 };

void pkb_queue_push(pkb_fiber_queue *queue, pkb_fiber *fiber)
{
    fiber->next = NULL;
    if (queue->head == NULL)
        queue->head = fiber;
    else
        queue->tail->next = fiber;
    queue->tail = fiber;
    queue->count++;
}

pkb_fiber *pkb_queue_pop(pkb_fiber_queue *queue)
{
    pkb_fiber *fiber = queue->head;

    if (fiber != NULL) {
        queue->head = fiber->next;
        queue->count--;
    }
    return fiber;
}

void pkb_queue_append(pkb_fiber_queue *to, pkb_fiber_queue *from)
{
    if (from->head == NULL)
        return;
    if (to->head == NULL)
        to->head = from->head;
    else
        to->tail->next = from->head;
    to->tail = from->tail;
    to->count += from->count;
    *from = (pkb_fiber_queue){0};
}

static void note_progress(pkb_block *block)
{
    block->quiet_yields = 0;
    block->has_progress = true;
}

void pkb_fiber_wake(pkb_fiber *fiber)
{
    fiber->state = PKB_FIBER_RUNNABLE;
    pkb_queue_push(&fiber->block->ready, fiber);
    note_progress(fiber->block);
}

/* Lanes of a warp that wait at the same activemask: they are the active ones. */
static void release_parked(pkb_block *block)
{
    for (uint32_t i = 0; i < block->started_count && block->parked_count > 0; i++) {
        pkb_fiber *first = &block->fibers[i];
        if (first->state != PKB_FIBER_PARKED)
            continue;
        uint32_t end = (i / PKB_WARP_LANES + 1) * PKB_WARP_LANES;
        uint32_t active = 0, site = first->wait_id;
        for (uint32_t j = i; j < end && j < block->started_count; j++)
            if (block->fibers[j].state == PKB_FIBER_PARKED && block->fibers[j].wait_id == site)
                active |= 1u << (j % PKB_WARP_LANES);
        for (uint32_t j = i; j < end; j++) {
            if (!(active & 1u << (j % PKB_WARP_LANES)))
                continue;
            block->fibers[j].result = active;
            block->parked_count--;
            pkb_fiber_wake(&block->fibers[j]);
        }
    }
}

static pkb_fiber *start_next(pkb_block *block)
{
    uint32_t index = block->started_count++;
    pkb_fiber *fiber = &block->fibers[index];
    uint32_t *tid = block->next_tid;

    memcpy(&fiber->thread, &block->prototype, sizeof fiber->thread);
    memcpy(fiber->thread.tid, tid, sizeof fiber->thread.tid);
    fiber->thread.linear = index;
    fiber->thread.lane = index % PKB_WARP_LANES;
    fiber->thread.warp = index / PKB_WARP_LANES;
    fiber->thread.yield_budget = PKB_YIELD_BUDGET;
    fiber->context = NULL;
    fiber->stack_top = NULL;
    fiber->block = block;
    fiber->state = PKB_FIBER_RUNNABLE;

    if (++tid[0] == block->prototype.ntid[0]) {
        tid[0] = 0;
        if (++tid[1] == block->prototype.ntid[1]) {
            tid[1] = 0;
            tid[2]++;
        }
    }
    return fiber;
}

/* The fiber to run next, taken from its queue. NULL: the block is finished, spins or is stuck. */
static pkb_fiber *choose(pkb_block *block)
{
    if (block->ready.head != NULL)
        return pkb_queue_pop(&block->ready);
    if (block->started_count < block->thread_count)
        return start_next(block);
    if (block->quiet_yields < block->spinning.count &&
        block->visit_yields < block->thread_count * VISIT_YIELDS)
        return pkb_queue_pop(&block->spinning);
    if (block->parked_count > 0) {
        release_parked(block);
        return pkb_queue_pop(&block->ready);
    }
    return NULL;
}

static void first_run(void *argument)
{
    pkb_fiber *fiber = argument;

    fiber->block->grid->launch.kernel->entry(&fiber->thread, fiber->block->grid->params);
    pkb_thread_exit(&fiber->thread);
}

/* Gives a fiber that never ran a stack of its own. */
static bool make_runnable(pkb_fiber *fiber)
{
    if (fiber->context != NULL)
        return true;
    fiber->stack_top = pkb_stack_take(fiber->block->grid->stack_bytes);
    if (fiber->stack_top == NULL)
        return false;
    fiber->context = pkb_fiber_prepare(fiber->stack_top, first_run, fiber);
    return true;
}

void pkb_fiber_sleep(pkb_fiber *fiber)
{
    pkb_grid *grid = fiber->block->grid;
    size_t depth = (size_t)((char *)fiber->stack_top - (char *)__builtin_frame_address(0));

    if (depth > grid->stack_bytes &&
        pkb_stack_is_overrun(fiber->stack_top, grid->stack_bytes, depth))
        pkb_fault_raise(&fiber->thread, PKB_CPU_FAULT_ADDRESS, "stack overflow: %zu bytes in use",
                        depth);
    pkb_fiber *next = choose(fiber->block);

    if (next == fiber)
        return;
    if (next == NULL) {
        grid->running = NULL;
        pkb_fiber_switch(&fiber->context, grid->scheduler_context);
        return;
    }
    if (!make_runnable(next))
        pkb_fault_out_of_stacks(&fiber->thread);
    grid->running = next;
    pkb_fiber_switch(&fiber->context, next->context);
}

void pkb_yield(pkb_thread *thread)
{
    pkb_fiber *fiber = pkb_fiber_of(thread);
    pkb_block *block = fiber->block;

    thread->yield_budget =
        block->grid->quiet_visits == 0 ? PKB_YIELD_BUDGET : PKB_YIELD_BUDGET_IDLE;
    block->quiet_yields++;
    block->visit_yields++;
    pkb_queue_push(&block->spinning, fiber);
    pkb_fiber_sleep(fiber);
}

_Noreturn void pkb_thread_exit(pkb_thread *thread)
{
    pkb_fiber *fiber = pkb_fiber_of(thread);
    pkb_block *block = fiber->block;
    pkb_grid *grid = block->grid;
    void *stack_top = fiber->stack_top;

    fiber->state = PKB_FIBER_EXITED;
    fiber->stack_top = NULL;
    block->live_count--;
    note_progress(block);
    pkb_warp_note_exit(fiber);
    pkb_barrier_note_exit(block);

    pkb_fiber *next = choose(block);
    if (next != NULL && next->context == NULL) {
        next->stack_top = stack_top;
        grid->running = next;
        pkb_fiber_begin(stack_top, first_run, next);
    }
    /* Nobody takes a stack before this one has been left. */
    pkb_stack_give(stack_top, grid->stack_bytes);
    grid->running = next;
    pkb_fiber_jump(next == NULL ? grid->scheduler_context : next->context);
}

void pkb_block_init(pkb_block *block, struct pkb_grid *grid, const pkb_thread *prototype,
                    uint32_t thread_count)
{
    memset(block, 0, offsetof(pkb_block, warps));
    block->grid = grid;
    block->prototype = *prototype;
    block->thread_count = block->live_count = thread_count;
    for (uint32_t w = 0; w * PKB_WARP_LANES < thread_count; w++) {
        uint32_t lanes = thread_count - w * PKB_WARP_LANES;
        block->warps[w].existing = lanes >= PKB_WARP_LANES ? ~0u : (1u << lanes) - 1;
        block->warps[w].exited = 0;
        block->warps[w].op_count = 0;
    }
}

pkb_block_outcome pkb_block_run(pkb_block *block)
{
    pkb_grid *grid = block->grid;

    block->quiet_yields = 0;
    block->visit_yields = 0;
    block->has_progress = false;

    pkb_fiber *fiber = choose(block);
    if (fiber == NULL)
        return PKB_BLOCK_STUCK;
    if (!make_runnable(fiber)) {
        pkb_fault_out_of_stacks_at_start(&fiber->thread);
        return PKB_BLOCK_FAULTED;
    }
    grid->running = fiber;
    pkb_fiber_switch(&grid->scheduler_context, fiber->context);
    grid->running = NULL;

    if (grid->has_faulted)
        return PKB_BLOCK_FAULTED;
    if (block->live_count == 0)
        return PKB_BLOCK_FINISHED;
    return block->spinning.count > 0 ? PKB_BLOCK_SPINNING : PKB_BLOCK_STUCK;
}

void pkb_block_abandon(pkb_block *block)
{
    for (uint32_t i = 0; i < block->started_count; i++)
        if (block->fibers[i].stack_top != NULL)
            pkb_stack_give(block->fibers[i].stack_top, block->grid->stack_bytes);
}
