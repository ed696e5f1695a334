/* SPDX-License-Identifier: Apache-2.0
 *
 * The page through which a judge starts work in its cell or runner and learns that it ended.
 * The judge writes the request and bumps `go`; the worker answers and sets `done` to that value.
 * Everything a cell writes here is a hint: it can make a reason clearer, never a verdict better.
 */
#ifndef PKB_HARNESS_PAGE_H
#define PKB_HARNESS_PAGE_H

#include <stdatomic.h>
#include <stdint.h>

#include "harness/memory/layout.h"

typedef enum pkb_command {
    PKB_COMMAND_NONE,
    PKB_COMMAND_LOAD,  /* dlopen the attempt, look up its entry points */
    PKB_COMMAND_SETUP, /* pkb_setup, then zero nothing: symmetric memory starts zero-filled */
    PKB_COMMAND_CLAIM, /* an untimed empty kernel: the GPU switches to this process */
    PKB_COMMAND_RUN,   /* call_count calls of pkb_run on slots[i], one synchronisation at the end */
    PKB_COMMAND_CHAIN, /* as RUN, but before each call the cell itself delays and copies all tensors
                          in from staging, and after it copies the outputs out and overwrites all */
    PKB_COMMAND_TEARDOWN, /* pkb_teardown */
    PKB_COMMAND_EXIT,
    PKB_COMMAND_VACATE /* unload the attempt and unmap the size; then wait for another opening */
} pkb_command;

/* Where a cell is, for reasons such as "crashed in pkb_run, call 2 of 4". */
typedef enum pkb_cell_phase {
    PKB_PHASE_START,
    PKB_PHASE_LOAD,
    PKB_PHASE_SETUP,
    PKB_PHASE_RUN,
    PKB_PHASE_SYNCHRONISE,
    PKB_PHASE_TEARDOWN,
    PKB_PHASE_IDLE
} pkb_cell_phase;

/* How a request ended, in the worker's words. */
typedef enum pkb_answer {
    PKB_ANSWER_OK,
    PKB_ANSWER_NO_SYMBOL,   /* text: the missing entry point, or dlopen's complaint */
    PKB_ANSWER_RETURNED,    /* an entry point returned non-zero: return_value */
    PKB_ANSWER_CUDA_ERROR,  /* cuda_error, text */
    PKB_ANSWER_UNSUPPORTED, /* the device cannot run it; text names instruction or call */
    PKB_ANSWER_EXCEPTION    /* runner only: a Python exception; details follow as a message */
} pkb_answer;

typedef struct pkb_place { /* a thread of a kernel; counter 0 = nothing known */
    _Atomic uint64_t counter;
    uint32_t block[3], thread[3];
    uint32_t line;
    char kernel[128], file[128];
} pkb_place;

typedef struct pkb_page {
    _Atomic uint32_t go, done; /* futex words */

    /* request, written by the judge before go */
    uint32_t command, call_count;
    uint32_t slots[PKB_MAX_SLOTS];
    uint64_t delay_ns[PKB_MAX_SLOTS]; /* before call i, on this rank */
    uint32_t overwrite_byte;          /* CHAIN: the pattern that ends an argument's life */
    uint64_t timeout_ns;              /* device-side waits give up after this */

    /* answer, written by the worker before done */
    uint32_t answer, phase, phase_call;
    int32_t return_value, cuda_error;
    char text[512];
    char fault_kind[32]; /* "", or e.g. "illegal address", "host fault", "system call" */
    pkb_place fault;     /* the faulting thread */
    pkb_place waiting;   /* a thread that spins, refreshed while nothing moves */
} pkb_page;

/* Judge side. Starts the request and returns the value that `done` will take. */
uint32_t pkb_page_start(pkb_page *page);
/* Waits until done == value or `timeout_ns` passed; true if done. Blocks on a futex, or spins where
 * the machine has cores to spare (`spin`). */
bool pkb_page_wait_done(pkb_page *page, uint32_t value, uint64_t timeout_ns, bool spin);
/* Worker side: waits for a go beyond `last`, returns its value; 0 after timeout_ns. */
uint32_t pkb_page_wait_go(pkb_page *page, uint32_t last, uint64_t timeout_ns, bool spin);
void pkb_page_finish(pkb_page *page, uint32_t value);

#endif
