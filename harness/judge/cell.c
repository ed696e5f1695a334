/* SPDX-License-Identifier: Apache-2.0
 *
 * Drives, watches and ends a cell; see cell.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "harness/judge/cell_inside.h"
#include "harness/judge/evidence.h"
#include "harness/judge/expired.h"
#include "harness/judge/hint.h"

/* How long a cell is given to end in its own way once another rank gave up: a worse finding of its
 * own may be on its way. */
#define GRACE_NS (200 * PKB_NS_PER_MS)
#define END_TIMEOUT_NS (2 * PKB_NS_PER_S)
#define DEBUGGER_END_NS (20 * PKB_NS_PER_S)

/* ---- what the other files use, too ---- */

uint64_t pkb_cell_device_timeout_ns(const pkb_cell *cell)
{
    return cell->timeout_ns / 4 * 3;
}

void pkb_cell_write_request(pkb_cell *cell, const pkb_cell_request *request)
{
    pkb_page *page = cell->page;
    page->command = request->command;
    page->call_count = request->call_count;
    for (uint32_t i = 0; i < request->call_count; i++) {
        page->slots[i] = request->slots[i];
        page->delay_ns[i] = request->delay_ns != NULL ? request->delay_ns[i] : 0;
    }
    page->overwrite_byte = request->overwrite_byte;
    page->timeout_ns = pkb_cell_device_timeout_ns(cell);
    page->answer = PKB_ANSWER_OK;
    page->return_value = page->cuda_error = 0;
    page->phase_call = 0;
    page->text[0] = page->fault_kind[0] = '\0';
    page->fault.counter = page->waiting.counter = 0;
}

bool pkb_cell_has_ended(pkb_cell *cell, pkb_child_exit *how)
{
    uint64_t timeout_ns = pkb_process_has_ended(&cell->process) ? END_TIMEOUT_NS : 0;
    return cell->child.pid == 0 || pkb_child_wait(&cell->child, timeout_ns, how, NULL) == PKB_OK;
}

/* ---- its end ---- */

static bool wait_for_end(pkb_cell *cell)
{
    const uint64_t deadline_ns = pkb_clock_now_ns() + DEBUGGER_END_NS;
    pkb_child_exit how;
    while (cell->child.pid > 0 &&
           pkb_child_wait(&cell->child, PKB_CELL_LOOK_NS, &how, NULL) != PKB_OK) {
        pkb_transcript_drain(&cell->transcript);
        if (pkb_clock_left_ns(deadline_ns) == 0)
            return false;
    }
    return true;
}

/* A tool that looks into a cell reports at the latest when that has ended; killed, it says less. */
static void let_debugger_finish(pkb_cell *cell)
{
    const pkb_cell_request request = {.command = PKB_COMMAND_EXIT};

    if (cell->process.pidfd < 0)
        return;
    pkb_cell_continue(cell);
    if (atomic_load(&cell->page->go) == atomic_load(&cell->page->done)) {
        pkb_cell_write_request(cell, &request);
        pkb_page_start(cell->page);
        if (wait_for_end(cell))
            return;
    }
    pkb_process_kill(&cell->process);
    wait_for_end(cell);
}

void pkb_cell_free(pkb_cell *cell)
{
    if (cell == NULL)
        return;
    if (cell->options.debug != NULL)
        let_debugger_finish(cell);
    pkb_process_kill(&cell->process);
    pkb_child_kill(&cell->child);
    pkb_process_wait(&cell->process, END_TIMEOUT_NS);
    pkb_process_release(&cell->process);
    pkb_transcript_drain(&cell->transcript);
    if (cell->options.log_path != NULL && cell->transcript.bytes > 0)
        pkb_transcript_save(&cell->transcript, cell->options.log_path, "the attempt's output");
    pkb_transcript_close(&cell->transcript);
    if (cell->fd >= 0)
        close(cell->fd);
    if (cell->scratch_fd >= 0)
        close(cell->scratch_fd);
    pkb_region_clear(&cell->page_region);
    pkb_message_free(cell->message);
    free(cell);
}

/* ---- one request ---- */

static void check_limits(pkb_cell *cell, const pkb_hint_step *step, bool is_due,
                         pkb_finding *finding)
{
    pkb_hint_words words = {0};
    pkb_cell_excess excess;
    if (!pkb_cell_limits_exceeded(&cell->limits, &cell->process, cell->memory, is_due, &excess))
        return;
    pkb_hint_phase(&words, cell->page, step);
    pkb_finding_set(finding, PKB_VERDICT_RESOURCE_LIMIT, "rank %u: %s in %s, the limit is %s",
                    finding->rank, excess.uses, words.action, excess.limit);
    snprintf(finding->phase, sizeof finding->phase, "%s", words.phase);
}

static void advise_patience(const pkb_cell *cell, pkb_finding *finding)
{
    if (cell->options.gpus == NULL)
        snprintf(finding->advice, sizeof finding->advice,
                 "the CPU device is slow: raise --timeout");
}

static void judge_deadline(const pkb_cell *cell, const pkb_hint_step *step, uint64_t timeout_ns,
                           pkb_finding *finding)
{
    pkb_hint_words words = {0};
    pkb_hint_phase(&words, cell->page, step);
    pkb_finding_set(finding, PKB_VERDICT_TIMEOUT, "rank %u: %s did not end within %.3g s%s",
                    finding->rank, words.action, (double)timeout_ns / 1e9, words.step);
    advise_patience(cell, finding);
    snprintf(finding->phase, sizeof finding->phase, "%s", words.phase);
}

/* One look at a busy cell; leaves a finding where it cannot go on. */
static void look(pkb_cell *cell, const pkb_hint_step *step, pkb_finding *finding)
{
    pkb_child_exit how = {.exited = true};
    pkb_transcript_drain(&cell->transcript);
    if (pkb_cell_has_ended(cell, &how))
        pkb_hint_judge_end(finding, cell->page, step, &how);
    else
        check_limits(cell, step, false, finding);
}

/* Until done, or until it is clear that it will not come. */
static pkb_code wait_done(pkb_cell *cell, const pkb_hint_step *step, uint32_t value,
                          uint64_t timeout_ns, pkb_finding *finding, pkb_error *err)
{
    pkb_judge_world *world = cell->options.world;
    uint64_t deadline_ns = pkb_clock_now_ns() + timeout_ns, aborted_ns = 0;
    pkb_code rc = PKB_OK;

    while (!pkb_page_wait_done(cell->page, value, PKB_CELL_LOOK_NS, world->spin)) {
        look(cell, step, finding);
        if (!pkb_finding_is_clean(finding))
            return PKB_OK;
        if (pkb_clock_left_ns(deadline_ns) == 0) {
            judge_deadline(cell, step, timeout_ns, finding);
            return PKB_OK;
        }
        if ((rc = pkb_watch_check(cell->options.watch, err)) != PKB_OK)
            return rc;
        if (!pkb_judge_world_is_aborted(world))
            continue;
        if (aborted_ns == 0)
            aborted_ns = pkb_clock_now_ns();
        else if (pkb_clock_now_ns() - aborted_ns > GRACE_NS)
            return PKB_OK;
    }
    return PKB_OK;
}

static uint64_t request_timeout_ns(const pkb_cell *cell, const pkb_cell_request *request)
{
    uint64_t timeout_ns = cell->timeout_ns;
    for (uint32_t i = 0; i < request->call_count && request->delay_ns != NULL; i++)
        timeout_ns += request->delay_ns[i];
    return timeout_ns;
}

/* UNSUPPORTED takes an attempt out of the count, so it has to be true. */
static void judge_answer(const pkb_cell *cell, const pkb_hint_step *step, pkb_finding *finding)
{
    char library[4200], expired[PKB_EXPIRED_BYTES];
    pkb_hint_step told = *step;
    const pkb_cell_options *options = &cell->options;
    const pkb_evidence evidence = {.host_path = options->host_path,
                                   .device_path = options->device_path,
                                   .library_path = library};
    pkb_finding claim = *finding;
    snprintf(library, sizeof library, "%s/libcudart.so.13", options->library_dir);
    if (pkb_expired_read(expired, cell->page, cell->memory, pkb_cell_device_timeout_ns(cell)))
        told.expired = expired;
    pkb_hint_judge_answer(&claim, cell->page, &told);
    if (claim.verdict == PKB_VERDICT_CRASH && told.expired != NULL)
        advise_patience(cell, &claim);
    if (claim.verdict == PKB_VERDICT_UNSUPPORTED && finding->verdict != PKB_VERDICT_UNSUPPORTED &&
        !pkb_evidence_is_unsupported(&evidence, claim.reason))
        pkb_finding_set(finding, PKB_VERDICT_CRASH,
                        "rank %u: it claims that the device cannot run it, but nothing of the kind "
                        "is in it",
                        finding->rank);
    else
        *finding = claim;
}

pkb_code pkb_cell_do(pkb_cell *cell, const pkb_cell_request *request, pkb_finding *finding,
                     pkb_error *err)
{
    const pkb_hint_step step = {request->command, request->call_count, request->step, NULL};
    pkb_cell_write_request(cell, request);
    pkb_cell_limits_begin(&cell->limits, request->is_timed);
    uint32_t value = pkb_page_start(cell->page);
    pkb_code rc = wait_done(cell, &step, value, request_timeout_ns(cell, request), finding, err);
    if (rc != PKB_OK)
        return rc;
    /* Rather this than what came of it, such as a failed cudaMalloc. */
    if (pkb_finding_is_clean(finding) && !request->is_timed)
        check_limits(cell, &step, true, finding);
    if (atomic_load_explicit(&cell->page->done, memory_order_acquire) != value)
        pkb_hint_waiting(finding->waiting, sizeof finding->waiting, cell->page,
                         pkb_cell_rank(cell));
    else if (finding->verdict != PKB_VERDICT_RESOURCE_LIMIT)
        judge_answer(cell, &step, finding);
    if (!pkb_finding_is_clean(finding))
        pkb_judge_world_abort(cell->options.world);
    return PKB_OK;
}

/* The cell has ended; the sandbox's monitor, which tells how, follows. */
static void judge_end(pkb_cell *cell, const pkb_hint_step *step, pkb_finding *finding)
{
    const uint64_t deadline_ns = pkb_clock_now_ns() + PKB_STOP_TIMEOUT_NS;
    pkb_child_exit how = {.exited = true};

    while (!pkb_cell_has_ended(cell, &how))
        if (pkb_clock_left_ns(deadline_ns) == 0) {
            pkb_finding_set(finding, PKB_VERDICT_INFRA_ERROR,
                            "rank %u: its process is gone, but the sandbox does not say how it "
                            "ended; this machine is too busy",
                            pkb_cell_rank(cell));
            return;
        }
    pkb_hint_judge_end(finding, cell->page, step, &how);
}

void pkb_cell_stop(pkb_cell *cell, pkb_finding *finding)
{
    const pkb_hint_step step = {.command = PKB_COMMAND_RUN};

    if (!pkb_finding_is_clean(finding) || cell->is_stopped)
        return;
    switch (pkb_process_stop(&cell->process, PKB_STOP_TIMEOUT_NS)) {
    case PKB_STOP_DONE:
        cell->is_stopped = true;
        return;
    case PKB_STOP_ENDED:
        judge_end(cell, &step, finding);
        break;
    case PKB_STOP_LATE:
        pkb_finding_set(finding, PKB_VERDICT_INFRA_ERROR,
                        "rank %u: its process did not get to stop within %.0f s; this machine is "
                        "too busy",
                        pkb_cell_rank(cell), (double)PKB_STOP_TIMEOUT_NS / 1e9);
        break;
    case PKB_STOP_DEFIED:
        pkb_finding_set(finding, PKB_VERDICT_TAMPERING,
                        "rank %u: its process went on running for %.0f s although it was told to "
                        "stop",
                        pkb_cell_rank(cell), (double)PKB_STOP_TIMEOUT_NS / 1e9);
        break;
    }
    pkb_judge_world_abort(cell->options.world);
}

void pkb_cell_continue(pkb_cell *cell)
{
    if (cell->is_stopped)
        pkb_process_continue(&cell->process);
    cell->is_stopped = false;
}

pkb_code pkb_cell_end(pkb_cell *cell, pkb_finding *finding, pkb_error *err)
{
    const pkb_cell_request request = {.command = PKB_COMMAND_EXIT};
    const pkb_hint_step step = {.command = PKB_COMMAND_EXIT};
    uint64_t deadline_ns = pkb_clock_now_ns() + cell->timeout_ns;
    pkb_child_exit how = {.exited = true};
    pkb_code rc = PKB_OK;

    pkb_cell_write_request(cell, &request);
    pkb_page_start(cell->page);
    while (pkb_child_wait(&cell->child, PKB_CELL_LOOK_NS, &how, NULL) != PKB_OK) {
        pkb_transcript_drain(&cell->transcript);
        if ((rc = pkb_watch_check(cell->options.watch, err)) != PKB_OK)
            return rc;
        if (pkb_clock_left_ns(deadline_ns) == 0) {
            judge_deadline(cell, &step, cell->timeout_ns, finding);
            return PKB_OK;
        }
    }
    if (!how.exited || how.status != 0)
        pkb_hint_judge_end(finding, cell->page, &step, &how);
    return PKB_OK;
}
