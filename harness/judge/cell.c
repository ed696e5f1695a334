/* SPDX-License-Identifier: Apache-2.0
 *
 * Starts, drives, watches and ends a cell; see cell.h.
 */
#include "harness/judge/cell.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/hash.h"
#include "harness/judge/evidence.h"
#include "harness/judge/expired.h"
#include "harness/judge/hint.h"
#include "harness/judge/launch.h"
#include "harness/judge/limits.h"
#include "harness/judge/process.h"
#include "harness/judge/transcript.h"
#include "harness/sandbox/child.h"
#include "harness/sandbox/message.h"

/* How long a cell is given to end in its own way once another rank gave up: a worse finding of its
 * own may be on its way. */
#define GRACE_NS (200 * PKB_NS_PER_MS)
#define END_TIMEOUT_NS (2 * PKB_NS_PER_S)
#define START_TIMEOUT_NS (30 * PKB_NS_PER_S)
#define DEBUGGED_START_TIMEOUT_NS (300 * PKB_NS_PER_S)
#define DEBUGGER_END_NS (20 * PKB_NS_PER_S)
#define LOOK_NS (5 * PKB_NS_PER_MS)

struct pkb_cell {
    pkb_cell_options options;
    const pkb_memory *memory; /* of the judge; NULL = not yet open */
    uint64_t timeout_ns;      /* of a request, without the delays that it asks for */
    pkb_child child;
    pkb_process process;
    int fd;         /* socket; -1 = none */
    int scratch_fd; /* the /tmp that is its alone; -1 = none */
    pkb_region page_region;
    pkb_page *page;
    pkb_message *message;
    pkb_transcript transcript;
    bool is_stopped;
    pkb_cell_limits limits;
};

static uint32_t rank_of(const pkb_cell *cell)
{
    return cell->options.world->rank;
}

/* ---- start ---- */

static pkb_code complain(pkb_cell *cell, pkb_error *err)
{
    char said[300];
    pkb_transcript_drain(&cell->transcript);
    pkb_hint_copy(said, sizeof said, cell->transcript.head, sizeof cell->transcript.head);
    return pkb_error_set(err, PKB_ERR_CHILD, 0, "the cell did not start (sandbox %s): %s",
                         pkb_sandbox_level_name(cell->options.level), said);
}

static uint64_t start_deadline_ns(const pkb_cell *cell)
{
    const bool is_debugged = cell->options.debug != NULL;
    return pkb_clock_now_ns() + (is_debugged ? DEBUGGED_START_TIMEOUT_NS : START_TIMEOUT_NS);
}

/* Hello: any message, sent before the attempt is loaded; the kernel says who sent it. */
static pkb_code receive_hello(pkb_cell *cell, pkb_error *err)
{
    uint64_t deadline_ns = start_deadline_ns(cell);
    pkb_code rc = PKB_OK;
    for (;;) {
        rc = pkb_message_receive(cell->fd, cell->message, PKB_WATCH_SLICE_NS, err);
        pkb_transcript_drain(&cell->transcript);
        if (rc != PKB_ERR_TIMEOUT || pkb_clock_left_ns(deadline_ns) == 0)
            break;
        if ((rc = pkb_watch_check(cell->options.watch, err)) != PKB_OK)
            return rc;
    }
    if (rc == PKB_ERR_CHILD)
        return complain(cell, err);
    if (rc != PKB_OK)
        return rc;
    if (cell->options.level == PKB_SANDBOX_FULL && cell->message->fd_count == 1) {
        cell->scratch_fd = cell->message->fds[0];
        cell->message->fds[0] = -1; /* the cell's now */
    }
    if (cell->message->pid <= 0)
        return pkb_error_set(err, PKB_ERR_CHILD, 0, "the cell's hello came without credentials");
    return pkb_process_take(&cell->process, cell->message->pid, err);
}

static pkb_code send_open(pkb_cell *cell, pkb_error *err)
{
    const pkb_memory *memory = cell->memory;
    int fds[PKB_CELL_FD_ARENAS + 2 * PKB_MAX_RANKS];
    size_t count = PKB_CELL_FD_ARENAS;
    pkb_cell_open open = {.version = PKB_CELL_OPEN_VERSION,
                          /* Looser than ours: its kernel limit only catches what is too quick
                           * for us to see, and an attempt reacts to it in its own way. */
                          .memory_limit_bytes = cell->limits.memory_bytes / 8 * 9,
                          .sandbox_level = cell->options.level,
                          .cores = cell->options.world->cores};
    pkb_code rc = pkb_random_bytes(&open.random, sizeof open.random, err);

    /* An earlier cell may have written to what is only meant to be read. */
    memcpy(memory->layout_region.address, &memory->layout, sizeof memory->layout);
    fds[PKB_CELL_FD_LAYOUT] = memory->layout_region.fd;
    fds[PKB_CELL_FD_PAGE] = cell->page_region.fd;
    fds[PKB_CELL_FD_VALUES] = memory->values.fd;
    fds[PKB_CELL_FD_STAGING] = memory->staging.fd;
    fds[PKB_CELL_FD_HOST] = memory->host.fd;
    for (uint32_t i = 0; i < 2 * memory->layout.world; i++)
        fds[count++] = memory->arenas[i];
    open.fd_count = (uint32_t)count;
    if (rc == PKB_OK)
        rc = pkb_message_send(cell->fd, &open, sizeof open, fds, count, err);
    return rc;
}

/* Waits of the attempt's own kernels give up first: they know best what they waited for. */
static uint64_t device_timeout_ns(const pkb_cell *cell)
{
    return cell->timeout_ns / 4 * 3;
}

static void write_request(pkb_cell *cell, const pkb_cell_request *request)
{
    pkb_page *page = cell->page;
    page->command = request->command;
    page->call_count = request->call_count;
    for (uint32_t i = 0; i < request->call_count; i++) {
        page->slots[i] = request->slots[i];
        page->delay_ns[i] = request->delay_ns != NULL ? request->delay_ns[i] : 0;
    }
    page->overwrite_byte = request->overwrite_byte;
    page->timeout_ns = device_timeout_ns(cell);
    page->answer = PKB_ANSWER_OK;
    page->return_value = page->cuda_error = 0;
    page->phase_call = 0;
    page->text[0] = page->fault_kind[0] = '\0';
    page->fault.counter = page->waiting.counter = 0;
}

/* True once the sandbox's monitor was reaped; waits a little where only the cell itself ended. */
static bool has_ended(pkb_cell *cell, pkb_child_exit *how)
{
    uint64_t timeout_ns = pkb_process_has_ended(&cell->process) ? END_TIMEOUT_NS : 0;
    return cell->child.pid == 0 || pkb_child_wait(&cell->child, timeout_ns, how, NULL) == PKB_OK;
}

/* An empty request: whatever fails up to its answer is our own failure, nothing is loaded yet. */
static pkb_code await_ready(pkb_cell *cell, pkb_error *err)
{
    const pkb_cell_request request = {.command = PKB_COMMAND_NONE};
    uint64_t deadline_ns = start_deadline_ns(cell);
    pkb_child_exit how;
    pkb_code rc = PKB_OK;

    write_request(cell, &request);
    uint32_t value = pkb_page_start(cell->page);
    while (!pkb_page_wait_done(cell->page, value, LOOK_NS, cell->options.world->spin)) {
        if (has_ended(cell, &how))
            return complain(cell, err);
        if (pkb_clock_left_ns(deadline_ns) == 0)
            return pkb_error_set(err, PKB_ERR_TIMEOUT, 0, "the cell is not ready in time");
        if ((rc = pkb_watch_check(cell->options.watch, err)) != PKB_OK)
            return rc;
    }
    return PKB_OK;
}

pkb_code pkb_cell_spawn(pkb_cell **out, const pkb_cell_options *options, pkb_error *err)
{
    int pair[2] = {-1, -1};
    pkb_code rc = PKB_OK;
    pkb_cell *cell = calloc(1, sizeof *cell);

    if (cell == NULL)
        return pkb_error_set(err, PKB_ERR_MEMORY, 0, "out of memory for a cell");
    cell->options = *options;
    cell->child = (pkb_child)PKB_CHILD_NONE;
    cell->process = (pkb_process)PKB_PROCESS_NONE;
    cell->scratch_fd = cell->fd = cell->transcript.read_fd = cell->transcript.write_fd = -1;
    cell->page_region = (pkb_region)PKB_REGION_NONE;
    if ((rc = pkb_message_create(&cell->message, err)) != PKB_OK ||
        (rc = pkb_transcript_open(&cell->transcript, err)) != PKB_OK ||
        (rc = pkb_region_create(&cell->page_region, "pkb-page", sizeof(pkb_page), err)) != PKB_OK ||
        (rc = pkb_socket_pair(pair, 1, err)) != PKB_OK)
        goto cleanup;
    cell->page = cell->page_region.address;
    cell->fd = pair[0];
    rc = pkb_cell_launch(&cell->child, options, pair[1], cell->transcript.write_fd, err);
    if (rc != PKB_OK)
        goto cleanup;
    pkb_transcript_close_writer(&cell->transcript);
    *out = cell;
    cell = NULL;
cleanup:
    if (pair[1] >= 0)
        close(pair[1]); /* the cell's alone: its death ends the connection */
    pkb_cell_free(cell);
    return rc;
}

pkb_code pkb_cell_await(pkb_cell *cell, pkb_error *err)
{
    return cell->process.pidfd >= 0 ? PKB_OK : receive_hello(cell, err);
}

pkb_code pkb_cell_begin(pkb_cell *cell, const pkb_memory *memory, uint64_t timeout_ns,
                        pkb_error *err)
{
    const pkb_judge_world *world = cell->options.world;
    pkb_code rc = PKB_OK;

    cell->memory = memory;
    cell->timeout_ns = timeout_ns;
    if ((rc = pkb_cell_limits_choose(&cell->limits, world->size, err)) != PKB_OK)
        return rc;
    cell->limits.is_off = cell->options.debug != NULL;
    if ((rc = pkb_cell_await(cell, err)) != PKB_OK || (rc = send_open(cell, err)) != PKB_OK ||
        (rc = await_ready(cell, err)) != PKB_OK)
        return rc;
    cell->limits.scratch_fd = cell->scratch_fd;
    pkb_cell_limits_settle(&cell->limits, &cell->process, memory, world->cores);
    return PKB_OK;
}

static bool wait_for_end(pkb_cell *cell)
{
    const uint64_t deadline_ns = pkb_clock_now_ns() + DEBUGGER_END_NS;
    pkb_child_exit how;
    while (cell->child.pid > 0 && pkb_child_wait(&cell->child, LOOK_NS, &how, NULL) != PKB_OK) {
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
        write_request(cell, &request);
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
    if (has_ended(cell, &how))
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

    while (!pkb_page_wait_done(cell->page, value, LOOK_NS, world->spin)) {
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
    if (pkb_expired_read(expired, cell->page, cell->memory, device_timeout_ns(cell)))
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
    write_request(cell, request);
    pkb_cell_limits_begin(&cell->limits, request->is_timed);
    uint32_t value = pkb_page_start(cell->page);
    pkb_code rc = wait_done(cell, &step, value, request_timeout_ns(cell, request), finding, err);
    if (rc != PKB_OK)
        return rc;
    /* Rather this than what came of it, such as a failed cudaMalloc. */
    if (pkb_finding_is_clean(finding) && !request->is_timed)
        check_limits(cell, &step, true, finding);
    if (atomic_load_explicit(&cell->page->done, memory_order_acquire) != value)
        pkb_hint_waiting(finding->waiting, sizeof finding->waiting, cell->page, rank_of(cell));
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

    while (!has_ended(cell, &how))
        if (pkb_clock_left_ns(deadline_ns) == 0) {
            pkb_finding_set(finding, PKB_VERDICT_INFRA_ERROR,
                            "rank %u: its process is gone, but the sandbox does not say how it "
                            "ended; this machine is too busy",
                            rank_of(cell));
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
                        rank_of(cell), (double)PKB_STOP_TIMEOUT_NS / 1e9);
        break;
    case PKB_STOP_DEFIED:
        pkb_finding_set(finding, PKB_VERDICT_TAMPERING,
                        "rank %u: its process went on running for %.0f s although it was told to "
                        "stop",
                        rank_of(cell), (double)PKB_STOP_TIMEOUT_NS / 1e9);
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

    write_request(cell, &request);
    pkb_page_start(cell->page);
    while (pkb_child_wait(&cell->child, LOOK_NS, &how, NULL) != PKB_OK) {
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
