/* SPDX-License-Identifier: Apache-2.0
 *
 * A runtime of one thread for the translator's tests: linked into the test's device.so. What
 * would stop a thread returns to stub_run with a message.
 */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/cpu/device/device.h"

uint64_t pkb_window_base = 0x7000000000, pkb_window_bytes = 0x1000, pkb_window_delta;
uint64_t pkb_shared_range;

static jmp_buf stop;
static char message[256];
static unsigned yields;

/* NULL when the kernel ran to its end, else why it stopped. */
const char *stub_run(const pkb_kernel_info *kernel, pkb_thread *thread, const void *params);
unsigned stub_yields(void);
void stub_map(uint64_t base, uint64_t bytes, uint64_t delta);

const char *stub_run(const pkb_kernel_info *kernel, pkb_thread *thread, const void *params)
{
    if (setjmp(stop) != 0)
        return message;
    kernel->entry(thread, params);
    return NULL;
}

unsigned stub_yields(void)
{
    return yields;
}

void stub_map(uint64_t base, uint64_t bytes, uint64_t delta)
{
    pkb_window_base = base;
    pkb_window_bytes = bytes;
    pkb_window_delta = delta;
}

static _Noreturn void halt(const char *kind, const char *what)
{
    snprintf(message, sizeof message, "%s: %s", kind, what);
    longjmp(stop, 1);
}

void pkb_yield(pkb_thread *thread)
{
    thread->yield_budget = 200;
    if (++yields > 1000)
        halt("hang", "yields");
}

void pkb_thread_exit(pkb_thread *thread)
{
    (void)thread;
    halt("exit", "");
}

void pkb_trap(pkb_thread *thread, const char *what)
{
    (void)thread;
    halt("trap", what);
}

void pkb_unsupported(pkb_thread *thread, const char *what)
{
    (void)thread;
    halt("unsupported", what);
}

void pkb_fault_address(pkb_thread *thread, uint64_t address, uint32_t bytes, int is_write,
                       int is_misaligned)
{
    char text[96];
    snprintf(text, sizeof text, "%s %u bytes%s line %u", is_write ? "write" : "read", bytes,
             is_misaligned ? " misaligned" : "", thread->line);
    (void)address;
    halt("address", text);
}

uint32_t pkb_vprintf(pkb_thread *thread, uint64_t format, uint64_t arguments)
{
    const int *values = (const int *)arguments;
    (void)thread;
    return (uint32_t)(strlen((const char *)format) * 1000) + (uint32_t)values[0];
}

uint64_t pkb_device_malloc(pkb_thread *thread, uint64_t bytes)
{
    (void)thread;
    return (uint64_t)malloc(bytes);
}

void pkb_device_free(pkb_thread *thread, uint64_t address)
{
    (void)thread;
    free((void *)address);
}

void pkb_assert_fail(pkb_thread *thread, uint64_t text, uint64_t file, uint32_t line,
                     uint64_t function)
{
    (void)thread, (void)file, (void)line, (void)function;
    halt("assert", (const char *)text);
}

uint64_t pkb_clock64(void)
{
    static uint64_t ticks;
    return ticks += 10;
}

uint64_t pkb_globaltimer(void)
{
    return pkb_clock64();
}

void pkb_nanosleep(pkb_thread *thread, uint32_t ns)
{
    (void)ns;
    pkb_yield(thread);
}

/* Collectives of a block of one thread, as lane `lane` of an otherwise empty warp */
void pkb_bar_sync(pkb_thread *thread, uint32_t id, uint32_t count)
{
    (void)thread, (void)id, (void)count;
}

void pkb_bar_arrive(pkb_thread *thread, uint32_t id, uint32_t count)
{
    (void)thread, (void)id, (void)count;
}

uint32_t pkb_bar_red(pkb_thread *thread, enum pkb_bar_op op, uint32_t id, uint32_t count,
                     uint32_t predicate)
{
    (void)thread;
    return (uint32_t)op * 1000 + id * 100 + count * 10 + predicate;
}

void pkb_warp_sync(pkb_thread *thread, uint32_t mask)
{
    (void)thread, (void)mask;
}

uint32_t pkb_shfl(pkb_thread *thread, enum pkb_shfl_mode mode, uint32_t value, uint32_t b,
                  uint32_t c, uint32_t mask, uint32_t *in_range)
{
    (void)thread;
    if (in_range != NULL)
        *in_range = mode != PKB_SHFL_IDX;
    return value + (uint32_t)mode * 1000 + b * 10 + c + (mask & 0xf) * 100000;
}

uint32_t pkb_vote(pkb_thread *thread, enum pkb_vote_mode mode, uint32_t predicate, uint32_t mask)
{
    (void)thread;
    return mode == PKB_VOTE_BALLOT ? (predicate ? mask : 0) : predicate;
}

uint32_t pkb_match_any(pkb_thread *thread, uint64_t value, uint32_t mask)
{
    (void)thread, (void)value;
    return mask;
}

uint32_t pkb_match_all(pkb_thread *thread, uint64_t value, uint32_t mask, uint32_t *all_equal)
{
    (void)thread, (void)value;
    *all_equal = 1;
    return mask;
}

uint32_t pkb_redux(pkb_thread *thread, enum pkb_redux_op op, uint32_t value, uint32_t mask)
{
    (void)thread;
    return value + (uint32_t)op * 1000 + mask * 100;
}

uint32_t pkb_elect(pkb_thread *thread, uint32_t mask, uint32_t *is_leader)
{
    (void)mask;
    *is_leader = 1;
    return thread->lane;
}

uint32_t pkb_activemask(pkb_thread *thread, uint32_t site)
{
    (void)site;
    return 1u << thread->lane;
}
