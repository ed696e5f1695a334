/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs programs for their output; see process.h.
 */
#include "evaluator/machine/process.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "evaluator/console/interrupt.h"

enum { OUTPUT_LIMIT_BYTES = 4 << 20 };

pkb_code pkb_idle_tick(const pkb_idle *idle, pkb_error *err)
{
    pkb_code rc = pkb_interrupt_check(err);
    if (rc == PKB_OK && idle != NULL && idle->tick != NULL)
        rc = idle->tick(idle->context, err);
    return rc;
}

pkb_code pkb_process_start(pkb_process *process, const pkb_process_options *options, pkb_error *err)
{
    *process = (pkb_process)PKB_PROCESS_NONE;
    process->output_fd = memfd_create("pkbench-output", MFD_CLOEXEC);
    if (process->output_fd < 0)
        return pkb_error_set_errno(err, PKB_ERR_IO, "cannot make a file for the output of %s",
                                   options->argv[0]);
    const pkb_child_options child_options = {
        .argv = options->argv,
        .environment = options->environment,
        .directory = options->directory,
        .stdin_fd = options->has_stdin ? options->stdin_fd : -1,
        .stdout_fd = process->output_fd,
        .stderr_fd = options->drops_stderr ? -1 : process->output_fd,
    };
    pkb_code rc = pkb_child_start(&process->child, &child_options, err);
    if (rc != PKB_OK)
        pkb_process_clear(process);
    return rc;
}

static pkb_code read_output(const pkb_process *process, pkb_buf *output, pkb_error *err)
{
    char block[16384];
    off_t at = 0;

    while (at < OUTPUT_LIMIT_BYTES) {
        ssize_t count = pread(process->output_fd, block, sizeof block, at);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return pkb_error_set_errno(err, PKB_ERR_IO, "cannot read a program's output");
        if (count == 0)
            break;
        pkb_buf_append(output, block, (size_t)count);
        at += count;
    }
    return pkb_buf_check(output, "a program's output", err);
}

/* After a failure `rc` that stays the result; the output is wanted all the same. */
static pkb_code end(pkb_process *process, pkb_code rc, pkb_buf *output, pkb_error *err)
{
    if (rc != PKB_OK)
        pkb_child_kill(&process->child);
    if (output != NULL && process->output_fd >= 0) {
        pkb_code read_rc = read_output(process, output, rc == PKB_OK ? err : NULL);
        rc = rc == PKB_OK ? read_rc : rc;
    }
    pkb_process_clear(process);
    return rc;
}

pkb_code pkb_process_finish(pkb_process *process, const uint64_t *deadline_ns, const pkb_idle *idle,
                            pkb_child_exit *how, pkb_buf *output, pkb_error *err)
{
    for (;;) {
        uint64_t slice_ns = pkb_clock_left_ns(*deadline_ns);
        if (slice_ns > PKB_TICK_MS * PKB_NS_PER_MS)
            slice_ns = PKB_TICK_MS * PKB_NS_PER_MS;
        pkb_code rc = pkb_child_wait(&process->child, slice_ns, how, err);
        if (rc != PKB_ERR_TIMEOUT || pkb_clock_left_ns(*deadline_ns) == 0)
            return end(process, rc, output, err);
        rc = pkb_idle_tick(idle, err);
        if (rc != PKB_OK)
            return end(process, rc, output, err);
    }
}

pkb_code pkb_process_poll(pkb_process *process, pkb_child_exit *how, pkb_buf *output,
                          pkb_error *err)
{
    pkb_code rc = pkb_child_wait(&process->child, 0, how, err);
    return rc == PKB_ERR_TIMEOUT ? rc : end(process, rc, output, err);
}

void pkb_process_clear(pkb_process *process)
{
    pkb_child_kill(&process->child);
    if (process->output_fd >= 0)
        close(process->output_fd);
    process->output_fd = -1;
}

pkb_code pkb_process_run(const pkb_process_options *options, uint64_t timeout_ns,
                         pkb_child_exit *how, pkb_buf *output, pkb_error *err)
{
    const uint64_t deadline_ns = pkb_clock_now_ns() + timeout_ns;
    pkb_process process = PKB_PROCESS_NONE;
    pkb_code rc = pkb_process_start(&process, options, err);
    if (rc == PKB_OK)
        rc = pkb_process_finish(&process, &deadline_ns, NULL, how, output, err);
    return rc;
}
