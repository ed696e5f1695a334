/* SPDX-License-Identifier: Apache-2.0
 *
 * The cells of one attempt, one a size. The next one comes up while the present one works: starting
 * CUDA takes most of its start. Until it is taken it holds nothing of the attempt.
 */
#ifndef PKB_HARNESS_SUPPLY_H
#define PKB_HARNESS_SUPPLY_H

#include <stdbool.h>
#include <stdint.h>

#include "harness/judge/cell.h"
#include "harness/judge/judge.h"

typedef struct pkb_supply {
    pkb_judge *judge;
    const char *host, *device; /* the attempt's two parts */
    pkb_sandbox_level level;
    const char *debugger; /* compute-sanitizer, around the cell of one rank; NULL = none */
    const char *debug_tool;
    uint32_t debug_rank;
    pkb_cell *next; /* NULL = none is on its way */
} pkb_supply;

/* Starts the next cell and returns; does nothing where one is on its way or a debugger is used. */
pkb_code pkb_supply_begin(pkb_supply *supply, pkb_error *err);
/* Waits until it is up: from then on it takes nothing but memory. */
pkb_code pkb_supply_await(pkb_supply *supply, pkb_error *err);
/* A cell with the judge's memory of the present size; the caller frees it. */
pkb_code pkb_supply_take(pkb_supply *supply, uint64_t timeout_ns, pkb_cell **out, pkb_error *err);
void pkb_supply_clear(pkb_supply *supply);

/* After the cell of a size is gone: adds what a debugger said of it to <work>/debug.txt. */
void pkb_supply_keep_log(const pkb_supply *supply, const char *size);

#endif
