/* SPDX-License-Identifier: Apache-2.0
 *
 * The sixteen barriers of a block. Arrivals count per thread. Without a thread count a barrier
 * waits for all threads that have not exited, so each exit looks at the active barriers again;
 * with a count exactly that many must arrive.
 */
#include "harness/cpu/device/block.h"
#include "harness/cpu/device/fault.h"

static bool is_complete(const pkb_block *block, const pkb_barrier *barrier)
{
    uint32_t needed = barrier->expected != 0 ? barrier->expected : block->live_count;
    return barrier->arrived >= needed;
}

static uint32_t reduce(const pkb_barrier *barrier)
{
    switch ((enum pkb_bar_op)barrier->op) {
    case PKB_BAR_AND:
        return barrier->true_count == barrier->arrived;
    case PKB_BAR_OR:
        return barrier->true_count != 0;
    case PKB_BAR_POPC:
        return barrier->true_count;
    }
    return 0;
}

/* Wakes all waiters; a reduction's result goes into each fiber, since the barrier may be in use
 * again before the last of them runs. */
static uint32_t complete(pkb_block *block, uint32_t id)
{
    pkb_barrier *barrier = &block->barriers[id];
    uint32_t result = barrier->is_reduction ? reduce(barrier) : 0;

    for (pkb_fiber *f = barrier->waiters.head; f != NULL; f = f->next) {
        f->result = result;
        f->state = PKB_FIBER_RUNNABLE;
    }
    pkb_queue_append(&block->ready, &barrier->waiters);
    block->quiet_yields = 0;
    block->has_progress = true;
    block->active_barriers &= ~(1u << id);
    *barrier = (pkb_barrier){0};
    return result;
}

static pkb_barrier *barrier_of(pkb_thread *thread, uint32_t id, uint32_t thread_count)
{
    pkb_block *block = pkb_fiber_of(thread)->block;

    if (id >= PKB_BLOCK_BARRIERS)
        pkb_fault_raise(thread, PKB_CPU_FAULT_TRAP, "barrier %u does not exist, there are 16", id);
    pkb_barrier *barrier = &block->barriers[id];
    block->active_barriers |= 1u << id;
    barrier->arrived++;
    if (thread_count != 0)
        barrier->expected = thread_count;
    return barrier;
}

/* Returns the result of a reduction, 0 otherwise. */
static uint32_t arrive_and_wait(pkb_thread *thread, uint32_t id)
{
    pkb_fiber *fiber = pkb_fiber_of(thread);
    pkb_barrier *barrier = &fiber->block->barriers[id];

    if (is_complete(fiber->block, barrier))
        return complete(fiber->block, id);
    fiber->state = PKB_FIBER_AT_BARRIER;
    fiber->wait_id = id;
    pkb_queue_push(&barrier->waiters, fiber);
    pkb_fiber_sleep(fiber);
    return fiber->result;
}

void pkb_bar_sync(pkb_thread *thread, uint32_t id, uint32_t thread_count)
{
    (void)barrier_of(thread, id, thread_count);
    (void)arrive_and_wait(thread, id);
}

void pkb_bar_arrive(pkb_thread *thread, uint32_t id, uint32_t thread_count)
{
    pkb_barrier *barrier = barrier_of(thread, id, thread_count);
    pkb_block *block = pkb_fiber_of(thread)->block;

    if (is_complete(block, barrier))
        (void)complete(block, id);
}

uint32_t pkb_bar_red(pkb_thread *thread, enum pkb_bar_op op, uint32_t id, uint32_t thread_count,
                     uint32_t predicate)
{
    pkb_barrier *barrier = barrier_of(thread, id, thread_count);

    barrier->is_reduction = true;
    barrier->op = op;
    barrier->true_count += predicate != 0;
    return arrive_and_wait(thread, id);
}

void pkb_barrier_note_exit(pkb_block *block)
{
    for (uint32_t left = block->active_barriers; left != 0; left &= left - 1) {
        uint32_t id = (uint32_t)__builtin_ctz(left);
        if (block->barriers[id].expected == 0 && is_complete(block, &block->barriers[id]))
            (void)complete(block, id);
    }
}
