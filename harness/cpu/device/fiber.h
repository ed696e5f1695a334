/* SPDX-License-Identifier: Apache-2.0
 *
 * Fibers: switching stacks, and the pool that stacks come from. Knows nothing of CUDA threads.
 * Not thread-safe: callers hold the runtime's lock.
 */
#ifndef PKB_CPU_DEVICE_FIBER_H
#define PKB_CPU_DEVICE_FIBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef void pkb_fiber_entry(void *argument);

/* Saves the running context in *save and continues the one that `next` names. */
void pkb_fiber_switch(void **save, void *next);
/* The same without saving: the running stack is given up. */
_Noreturn void pkb_fiber_jump(void *next);
/* Starts entry(argument) at the top of a stack, which may be the running one. */
_Noreturn void pkb_fiber_begin(void *stack_top, pkb_fiber_entry *entry, void *argument);
/* Makes a context for pkb_fiber_switch on a stack that is not running. entry must not return. */
void *pkb_fiber_prepare(void *stack_top, pkb_fiber_entry *entry, void *argument);

/* A stack of at least `bytes`; returns its 16-aligned top, NULL when memory is short. */
void *pkb_stack_take(size_t bytes);
/* `bytes` as given to pkb_stack_take. The caller may still run on it until the next take. */
void pkb_stack_give(void *stack_top, size_t bytes);
/* Whether a running stack, now `depth` bytes below its top, has run into the one below it. Only
 * stacks without a guard can; `bytes` as given to pkb_stack_take. */
bool pkb_stack_is_overrun(const void *stack_top, size_t bytes, size_t depth);
/* Stacks handed out and not given back. */
size_t pkb_stack_taken_count(void);
/* What a fault at `address` means for the stacks; one that ran into the reserve below it is given
 * that reserve, and the access can be repeated. Async-signal-safe. */
typedef enum pkb_stack_touch {
    PKB_STACK_NONE,    /* not a stack's address */
    PKB_STACK_GROWN,   /* repeat the access */
    PKB_STACK_OVERFLOW /* the reserve is used up, too */
} pkb_stack_touch;
pkb_stack_touch pkb_stack_note_fault(uint64_t address);

#endif
