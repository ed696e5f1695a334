/* SPDX-License-Identifier: Apache-2.0
 *
 * The judge's side of a cell (docs/protocol.md, section 4): starts it in its sandbox, makes it do
 * one request at a time under a deadline, and puts what went wrong into a finding. A cell is never
 * believed: what it writes can only explain a failure.
 */
#ifndef PKB_HARNESS_JUDGE_CELL_H
#define PKB_HARNESS_JUDGE_CELL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "harness/judge/finding.h"
#include "harness/judge/gpus.h"
#include "harness/judge/memory.h"
#include "harness/judge/watch.h"
#include "harness/judge/world.h"
#include "harness/memory/page.h"
#include "harness/sandbox/sandbox.h"

typedef struct pkb_cell pkb_cell;

/* NVIDIA's compute-sanitizer around a cell, which then is in no sandbox and has no limits. */
typedef struct pkb_cell_debug {
    const char *program, *tool, *log_path;
} pkb_cell_debug;

typedef struct pkb_cell_options {
    const char *program;        /* pkbench-cell */
    const char *library_dir;    /* holds the CPU device's libcudart.so.13 */
    const char *cudart;         /* NVIDIA's libcudart.so.13; NULL on the CPU */
    const pkb_judge_gpus *gpus; /* NULL on the CPU */
    const char *host_path;      /* the attempt's two parts */
    const char *device_path;
    const char *log_path;        /* what the attempt prints is appended here */
    const pkb_cell_debug *debug; /* NULL = none; wants level none */
    pkb_sandbox_level level;
    bool stays; /* it may serve several sizes */
    pkb_judge_world *world;
    const pkb_watch *watch;
} pkb_cell_options;

typedef struct pkb_cell_request {
    pkb_command command;
    const char *step; /* "trial 2 of 3"; NULL = none */
    uint32_t call_count;
    const uint32_t *slots;
    const uint64_t *delay_ns; /* NULL = none */
    uint32_t overwrite_byte;
    bool is_timed;
} pkb_cell_request;

/* Starts a cell and returns: it comes up meanwhile. Nothing of the attempt is loaded before the
 * first request, so that a failure up to then is ours. The caller frees; what `options` points to
 * must outlive the cell. */
pkb_code pkb_cell_spawn(pkb_cell **out, const pkb_cell_options *options, pkb_error *err);
/* Waits until its device is open. Then it waits, too, and does nothing. */
pkb_code pkb_cell_await(pkb_cell *cell, pkb_error *err);
/* Gives it the memory of a size, for requests of `timeout_ns` each. May come again, for another
 * size, once the cell is vacated: any failure then is the attempt's doing, or may be. */
pkb_code pkb_cell_begin(pkb_cell *cell, const pkb_memory *memory, uint64_t timeout_ns,
                        pkb_error *err);
/* Kills whatever is left of it, reaps it and saves what it printed. */
void pkb_cell_free(pkb_cell *cell);

/* One request; returns when it is done, failed, or another rank gave up. */
pkb_code pkb_cell_do(pkb_cell *cell, const pkb_cell_request *request, pkb_finding *finding,
                     pkb_error *err);
/* Between done and the next go nothing of the cell runs. */
void pkb_cell_stop(pkb_cell *cell, pkb_finding *finding);
void pkb_cell_continue(pkb_cell *cell);
/* Makes one that stays let go of the size and of the attempt, stops it, and looks at what is left.
 * `why` says what keeps it from serving another size; "" if nothing does. */
pkb_code pkb_cell_vacate(pkb_cell *cell, char *why, size_t bytes, pkb_error *err);
/* Whether an attempt has run in it at an earlier size. */
bool pkb_cell_is_used(const pkb_cell *cell);
/* EXIT, and waits for a clean end. */
pkb_code pkb_cell_end(pkb_cell *cell, pkb_finding *finding, pkb_error *err);

#endif
