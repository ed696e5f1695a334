/* SPDX-License-Identifier: Apache-2.0
 *
 * Programs that the evaluator runs for their output. While one runs, an idle hook is called, so
 * that one thread can do several things.
 */
#ifndef PKB_EVALUATOR_PROCESS_H
#define PKB_EVALUATOR_PROCESS_H

#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "harness/sandbox/child.h"

enum { PKB_TICK_MS = 20 };

/* Called about every PKB_TICK_MS while something is awaited; an error ends the wait with it. */
typedef struct pkb_idle {
    pkb_code (*tick)(void *context, pkb_error *err);
    void *context;
} pkb_idle;

/* Calls the hook (which may be NULL) and looks for an interrupt. */
pkb_code pkb_idle_tick(const pkb_idle *idle, pkb_error *err);

typedef struct pkb_process {
    pkb_child child;
    int output_fd; /* an unnamed file in memory that takes stdout and stderr; -1 = none */
} pkb_process;

#define PKB_PROCESS_NONE                         \
    {                                            \
        .child = PKB_CHILD_NONE, .output_fd = -1 \
    }

typedef struct pkb_process_options {
    const char *const *argv;
    const char *const *environment; /* NULL = inherit */
    const char *directory;          /* NULL = inherit */
    bool drops_stderr;
    bool has_stdin; /* else it reads nothing */
    int stdin_fd;
} pkb_process_options;

pkb_code pkb_process_start(pkb_process *process, const pkb_process_options *options,
                           pkb_error *err);
/* Waits; at the deadline, which the hook may move, it is killed and PKB_ERR_TIMEOUT returned. On
 * every other failure it is killed, too. Appends what it wrote (at most 4 MiB) to `output`, which
 * may be NULL. */
pkb_code pkb_process_finish(pkb_process *process, const uint64_t *deadline_ns, const pkb_idle *idle,
                            pkb_child_exit *how, pkb_buf *output, pkb_error *err);
/* Only looks: PKB_ERR_TIMEOUT while it runs; else as pkb_process_finish. */
pkb_code pkb_process_poll(pkb_process *process, pkb_child_exit *how, pkb_buf *output,
                          pkb_error *err);
/* Kills and reaps; harmless on one that was never started. */
void pkb_process_clear(pkb_process *process);

/* Starts and finishes. */
pkb_code pkb_process_run(const pkb_process_options *options, uint64_t timeout_ns,
                         pkb_child_exit *how, pkb_buf *output, pkb_error *err);

#endif
