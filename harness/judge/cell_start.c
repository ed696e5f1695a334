/* SPDX-License-Identifier: Apache-2.0
 *
 * Starts a cell and gives it the memory of a size; see cell.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "harness/judge/cell_inside.h"
#include "harness/judge/hint.h"
#include "harness/judge/launch.h"

#define START_TIMEOUT_NS (30 * PKB_NS_PER_S)
#define DEBUGGED_START_TIMEOUT_NS (300 * PKB_NS_PER_S)
/* Of one that is up: nothing has to start. */
#define REOPEN_TIMEOUT_NS (5 * PKB_NS_PER_S)

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
    const uint64_t timeout_ns = cell->size_count > 0          ? REOPEN_TIMEOUT_NS
                                : cell->options.debug != NULL ? DEBUGGED_START_TIMEOUT_NS
                                                              : START_TIMEOUT_NS;
    return pkb_clock_now_ns() + timeout_ns;
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
                          .cores = cell->options.world->cores,
                          .stays = cell->options.stays};
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

/* An empty request: whatever fails up to its answer is our own failure, nothing is loaded yet. */
static pkb_code await_ready(pkb_cell *cell, pkb_error *err)
{
    const pkb_cell_request request = {.command = PKB_COMMAND_NONE};
    uint64_t deadline_ns = start_deadline_ns(cell);
    pkb_child_exit how;
    pkb_code rc = PKB_OK;

    pkb_cell_write_request(cell, &request);
    uint32_t value = pkb_page_start(cell->page);
    while (!pkb_page_wait_done(cell->page, value, PKB_CELL_LOOK_NS, cell->options.world->spin)) {
        if (pkb_cell_has_ended(cell, &how))
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

/* What earlier sizes have left, which is little, is not charged to this one. */
static void settle_holding(pkb_cell *cell)
{
    pkb_cell_holding now = {0};

    pkb_cell_look_at_holding(cell, &now);
    if (cell->size_count++ == 0)
        cell->first = now;
    else if (now.private_bytes > cell->first.private_bytes)
        cell->limits.memory_bytes += now.private_bytes - cell->first.private_bytes;
}

pkb_code pkb_cell_begin(pkb_cell *cell, const pkb_memory *memory, uint64_t timeout_ns,
                        pkb_error *err)
{
    const pkb_judge_world *world = cell->options.world;
    pkb_code rc = PKB_OK;

    pkb_cell_continue(cell);
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
    settle_holding(cell);
    return PKB_OK;
}
