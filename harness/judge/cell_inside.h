/* SPDX-License-Identifier: Apache-2.0
 *
 * What the files of a cell share (cell.c, cell_start.c, cell_stay.c); for everybody else there is
 * cell.h.
 */
#ifndef PKB_HARNESS_JUDGE_CELL_INSIDE_H
#define PKB_HARNESS_JUDGE_CELL_INSIDE_H

#include "base/clock.h"
#include "harness/judge/cell.h"
#include "harness/judge/limits.h"
#include "harness/judge/process.h"
#include "harness/judge/transcript.h"
#include "harness/sandbox/child.h"
#include "harness/sandbox/message.h"

/* Between two looks at a cell that is waited for. */
#define PKB_CELL_LOOK_NS (5 * PKB_NS_PER_MS)

enum { PKB_CELL_OWN_THREADS = 256 }; /* the runtime's: a handful; more are never overlooked */

/* What it holds beside the memory of a size. */
typedef struct pkb_cell_holding {
    uint64_t private_bytes, shared_bytes, file_count;
    size_t thread_count;
    pid_t threads[PKB_CELL_OWN_THREADS];
} pkb_cell_holding;

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
    uint32_t size_count;    /* that it was opened for */
    pkb_cell_holding first; /* as it was when it held nothing of an attempt */
};

static inline uint32_t pkb_cell_rank(const pkb_cell *cell)
{
    return cell->options.world->rank;
}

/* Writes a request into the page; pkb_page_start starts it. */
void pkb_cell_write_request(pkb_cell *cell, const pkb_cell_request *request);
/* True once the sandbox's monitor was reaped; waits a little where only the cell itself ended. */
bool pkb_cell_has_ended(pkb_cell *cell, pkb_child_exit *how);
/* How long waits of the attempt's own kernels last; they give up before its request does: they know
 * best what they waited for. */
uint64_t pkb_cell_device_timeout_ns(const pkb_cell *cell);
/* Of a cell that stands still, or does nothing. False once it has ended. */
bool pkb_cell_look_at_holding(const pkb_cell *cell, pkb_cell_holding *out);

#endif
