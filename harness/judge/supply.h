/* SPDX-License-Identifier: Apache-2.0
 *
 * The cells of one attempt. Where one is enough for all sizes, because it can be vacated, a size
 * takes that of the size before; elsewhere each has its own, and they come up together while inputs
 * are drawn. Until one is taken it holds nothing of the attempt.
 */
#ifndef PKB_HARNESS_SUPPLY_H
#define PKB_HARNESS_SUPPLY_H

#include <stdbool.h>
#include <stdint.h>

#include "harness/judge/cell.h"
#include "harness/judge/judge.h"

enum { PKB_SUPPLY_MAX = 6 }; /* cells that wait; later sizes start theirs when they come */

typedef struct pkb_supply {
    pkb_judge *judge;
    const char *host, *device; /* the attempt's two parts */
    pkb_sandbox_level level;
    const char *debugger; /* compute-sanitizer, around the cell of one rank; NULL = none */
    const char *debug_tool;
    uint32_t debug_rank;
    pkb_cell *waiting[PKB_SUPPLY_MAX];
    size_t waiting_count;
    pkb_cell *vacated; /* stopped after an earlier size; NULL = none */
} pkb_supply;

/* Whether a cell may serve several sizes. On GPUs, where starting one takes 0.3 s; on the CPU only
 * without a sandbox, whose filter refuses to map more shared memory once an attempt is loaded. A
 * debugger's report is of one size. */
bool pkb_supply_reuses(const pkb_supply *supply);

/* Starts cells until `cell_count` wait, and returns; none where a debugger is used or a vacated one
 * is there. */
pkb_code pkb_supply_begin(pkb_supply *supply, size_t cell_count, pkb_error *err);
/* Waits until they are up: from then on they take nothing but memory. */
pkb_code pkb_supply_await(pkb_supply *supply, pkb_error *err);
/* A cell with the judge's memory of the present size; the caller frees it. */
pkb_code pkb_supply_take(pkb_supply *supply, uint64_t timeout_ns, pkb_cell **out, pkb_error *err);
void pkb_supply_clear(pkb_supply *supply);

/* After the cell of a size is gone: adds what a debugger said of it to <work>/debug.txt. */
void pkb_supply_keep_log(const pkb_supply *supply, const char *size);

#endif
