/* SPDX-License-Identifier: Apache-2.0
 *
 * A live block: its fibers (one per CUDA thread), run queues, barriers and warps. block.c chooses
 * which fiber runs next; barrier.c and warp.c put fibers to sleep and wake them; grid.c decides
 * which block runs. A block runs on one host thread at a time.
 */
#ifndef PKB_CPU_DEVICE_BLOCK_H
#define PKB_CPU_DEVICE_BLOCK_H

#include "harness/cpu/device/device.h"

#include <stdbool.h>

enum {
    PKB_WARP_LANES = 32,
    PKB_BLOCK_BARRIERS = 16,
    PKB_BLOCK_MAX_THREADS = 1024,
    PKB_YIELD_BUDGET = 200,     /* back edges of a waiting loop before a yield ... */
    PKB_YIELD_BUDGET_IDLE = 16, /* ... and once a whole round brought nothing */
    PKB_SHARED_RESERVED = 1024  /* bytes at the start of a shared window that are the system's */
};

typedef enum pkb_fiber_state {
    PKB_FIBER_RUNNABLE,
    PKB_FIBER_AT_BARRIER,
    PKB_FIBER_IN_WARP_OP,
    PKB_FIBER_PARKED, /* in activemask */
    PKB_FIBER_EXITED
} pkb_fiber_state;

typedef struct pkb_fiber {
    pkb_thread thread; /* first: translated code holds a pointer to it */
    void *context;     /* for pkb_fiber_switch; NULL before the first run */
    void *stack_top;
    struct pkb_fiber *next; /* in the queue or waiting list that holds it */
    struct pkb_block *block;
    pkb_fiber_state state;
    uint32_t wait_id;           /* barrier id, warp operation kind, or activemask site */
    uint32_t wait_mask;         /* member mask of the warp operation */
    uint32_t b, c;              /* further operands of a shuffle */
    uint64_t operand;           /* what this lane brought ... */
    uint32_t result, predicate; /* ... and what it gets */
} pkb_fiber;

typedef struct pkb_fiber_queue {
    pkb_fiber *head, *tail;
    uint32_t count;
} pkb_fiber_queue;

typedef struct pkb_barrier {
    pkb_fiber_queue waiters;
    uint32_t arrived;  /* waiters and bar.arrive */
    uint32_t expected; /* 0: all threads that still live */
    uint32_t true_count, op;
    bool is_reduction;
} pkb_barrier;

/* One pending collective of a warp. Two may be pending at once if their masks differ. */
typedef struct pkb_warp_op {
    uint32_t mask, kind, arrived;
} pkb_warp_op;

typedef struct pkb_warp {
    uint32_t existing, exited; /* lanes */
    uint32_t op_count;
    pkb_warp_op ops[PKB_WARP_LANES];
} pkb_warp;

typedef struct pkb_block {
    struct pkb_grid *grid;
    struct pkb_block *next, *previous; /* ring of the grid's live blocks */
    pkb_thread prototype;              /* what all threads of the block share */
    uint32_t thread_count, started_count, live_count;
    uint32_t next_tid[3];
    pkb_fiber_queue ready, spinning;
    uint32_t parked_count;
    uint32_t quiet_yields; /* yields since the last progress */
    uint32_t visit_yields; /* yields since the grid chose this block */
    bool has_progress;     /* something was woken or ended since the grid chose this block */
    uint32_t window;       /* index of its shared window */
    uint32_t active_barriers;
    pkb_barrier barriers[PKB_BLOCK_BARRIERS];
    pkb_warp warps[PKB_BLOCK_MAX_THREADS / PKB_WARP_LANES];
    pkb_fiber fibers[]; /* initialised when they start */
} pkb_block;

static inline pkb_fiber *pkb_fiber_of(pkb_thread *thread)
{
    return (pkb_fiber *)(void *)thread;
}

void pkb_queue_push(pkb_fiber_queue *queue, pkb_fiber *fiber);
pkb_fiber *pkb_queue_pop(pkb_fiber_queue *queue);
/* Moves all of `from` to the end of `to`. */
void pkb_queue_append(pkb_fiber_queue *to, pkb_fiber_queue *from);

/* Makes a sleeping fiber runnable. */
void pkb_fiber_wake(pkb_fiber *fiber);
/* Runs others until the calling fiber, which the caller put into some queue or list, is chosen. */
void pkb_fiber_sleep(pkb_fiber *fiber);

/* A sleeping block with `thread_count` threads; `prototype` as in pkb_thread, tid aside. */
void pkb_block_init(pkb_block *block, struct pkb_grid *grid, const pkb_thread *prototype,
                    uint32_t thread_count);

typedef enum pkb_block_outcome {
    PKB_BLOCK_FINISHED,
    PKB_BLOCK_SPINNING, /* every runnable thread yielded; others may have to act first */
    PKB_BLOCK_STUCK,    /* all threads wait for one another */
    PKB_BLOCK_FAULTED
} pkb_block_outcome;

/* Runs the block until one of these holds. */
pkb_block_outcome pkb_block_run(pkb_block *block);

/* Gives the stacks of an abandoned block back. */
void pkb_block_abandon(pkb_block *block);

/* An exit can complete barriers and warp operations of those who stay. */
void pkb_barrier_note_exit(pkb_block *block);
void pkb_warp_note_exit(pkb_fiber *fiber);

#endif
