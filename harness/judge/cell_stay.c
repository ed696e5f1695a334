/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether a cell can serve another size; see cell.h. Its own word that it let go of everything is
 * not enough: what is left is looked at from outside. What cannot be seen gives an attempt nothing
 * that it could not do at the next size anyway.
 */
#include <inttypes.h>
#include <stdio.h>
#include <sys/vfs.h>

#include "harness/judge/cell_inside.h"
#include "harness/judge/hint.h"

#define VACATE_TIMEOUT_NS (5 * PKB_NS_PER_S)
/* The runtime's own memory grows a little; honest code may leak a little. */
#define SLACK_BYTES (UINT64_C(256) << 20)

static const char ended_text[] = "it ended when it was to be unloaded";

bool pkb_cell_look_at_holding(const pkb_cell *cell, pkb_cell_holding *out)
{
    pkb_process_usage usage = {0};
    struct statfs facts;

    if (!pkb_process_look(&cell->process, &usage))
        return false;
    *out = (pkb_cell_holding){.private_bytes = usage.private_bytes,
                              .shared_bytes = usage.shared_bytes};
    out->thread_count =
        pkb_process_list_threads(&cell->process, out->threads, PKB_CELL_OWN_THREADS);
    if (cell->scratch_fd >= 0 && fstatfs(cell->scratch_fd, &facts) == 0)
        out->file_count = facts.f_files - facts.f_ffree;
    return true;
}

bool pkb_cell_is_used(const pkb_cell *cell)
{
    return cell->size_count > 1;
}

/* Until it has answered. It takes a millisecond, so what takes seconds hangs. */
static pkb_code ask(pkb_cell *cell, char *why, size_t bytes, pkb_error *err)
{
    const pkb_cell_request request = {.command = PKB_COMMAND_VACATE};
    const uint64_t deadline_ns = pkb_clock_now_ns() + VACATE_TIMEOUT_NS;
    const bool spin = cell->options.world->spin;
    pkb_child_exit how;
    pkb_code rc = PKB_OK;

    pkb_cell_write_request(cell, &request);
    const uint32_t value = pkb_page_start(cell->page);
    while (!pkb_page_wait_done(cell->page, value, PKB_CELL_LOOK_NS, spin)) {
        pkb_transcript_drain(&cell->transcript);
        if (pkb_cell_has_ended(cell, &how))
            snprintf(why, bytes, "%s", ended_text);
        else if (pkb_clock_left_ns(deadline_ns) == 0)
            snprintf(why, bytes, "it could not be unloaded in time");
        if (why[0] != '\0' || (rc = pkb_watch_check(cell->options.watch, err)) != PKB_OK)
            return rc;
    }
    if (*(const volatile uint32_t *)&cell->page->answer != PKB_ANSWER_OK)
        pkb_hint_copy(why, bytes, cell->page->text, sizeof cell->page->text);
    else
        return PKB_OK;
    if (why[0] == '\0')
        snprintf(why, bytes, "it cannot be unloaded");
    return PKB_OK;
}

/* Threads of `now` that were not there at `first`. */
static size_t count_new_threads(const pkb_cell_holding *now, const pkb_cell_holding *first)
{
    size_t count = now->thread_count > PKB_CELL_OWN_THREADS;

    for (size_t i = 0; i < now->thread_count && i < PKB_CELL_OWN_THREADS; i++) {
        bool is_old = false;
        for (size_t k = 0; k < first->thread_count && k < PKB_CELL_OWN_THREADS; k++)
            is_old |= first->threads[k] == now->threads[i];
        count += !is_old;
    }
    return count;
}

static bool is_more(char *why, size_t bytes, uint64_t now, uint64_t then, const char *what)
{
    if (now <= then + SLACK_BYTES)
        return false;
    snprintf(why, bytes, "%" PRIu64 " MiB of %s are left", (now - then) >> 20, what);
    return true;
}

static void find_leftovers(const pkb_cell *cell, char *why, size_t bytes)
{
    const pkb_cell_holding *first = &cell->first;
    const pkb_judge_device *device = cell->memory->device;
    const uint64_t gpu_bytes = device->used_bytes != NULL ? device->used_bytes() : 0;
    pkb_cell_holding now = {0};
    size_t threads = 0;

    if (!pkb_cell_look_at_holding(cell, &now))
        snprintf(why, bytes, "%s", ended_text);
    else if ((threads = count_new_threads(&now, first)) > 0)
        snprintf(why, bytes, "threads are left: %zu", threads);
    else if (now.file_count > first->file_count)
        snprintf(why, bytes, "files are left: %" PRIu64, now.file_count - first->file_count);
    else if (!is_more(why, bytes, now.private_bytes, first->private_bytes, "memory") &&
             !is_more(why, bytes, now.shared_bytes, first->shared_bytes, "pinned memory"))
        is_more(why, bytes, gpu_bytes, cell->limits.gpu_start_bytes, "its GPU's memory");
}

pkb_code pkb_cell_vacate(pkb_cell *cell, char *why, size_t bytes, pkb_error *err)
{
    why[0] = '\0';
    pkb_code rc = ask(cell, why, bytes, err);

    if (rc != PKB_OK || why[0] != '\0')
        return rc;
    const pkb_stop stop = pkb_process_stop(&cell->process, PKB_STOP_TIMEOUT_NS);
    cell->is_stopped = stop == PKB_STOP_DONE;
    if (stop == PKB_STOP_ENDED)
        snprintf(why, bytes, "%s", ended_text);
    else if (stop != PKB_STOP_DONE)
        snprintf(why, bytes, "it does not stand still");
    else
        find_leftovers(cell, why, bytes);
    return PKB_OK;
}
