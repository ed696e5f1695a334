/* SPDX-License-Identifier: Apache-2.0
 *
 * Judges one attempt: its sizes one after another, each in a cell in which nothing of it is left.
 */
#ifndef PKB_HARNESS_ATTEMPT_H
#define PKB_HARNESS_ATTEMPT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/json.h"
#include "harness/judge/cell.h"
#include "harness/judge/judge.h"

enum { PKB_MAX_PAIRS = 30 };

typedef struct pkb_batch_pair { /* of one rank: reference and attempt in the same slots */
    uint64_t reference_ns[PKB_MAX_RANKS], attempt_ns[PKB_MAX_RANKS];
    bool is_attempt_first;
} pkb_batch_pair;

typedef struct pkb_timing {
    pkb_batch_pair pairs[PKB_MAX_PAIRS];
    uint32_t pair_count;
    uint32_t reference_calls, attempt_calls; /* in a batch of that side */
    bool is_unstable;                        /* the budget ended before the interval was narrow */
} pkb_timing;

/* Where the time of a size goes, one after another. */
typedef enum pkb_cost {
    PKB_COST_PREPARE, /* regions, draws and expectations */
    PKB_COST_LOAD,    /* the cell's start, the attempt's load and set-up */
    PKB_COST_CHECK,
    PKB_COST_WAIT, /* until this world may time */
    PKB_COST_TIME,
    PKB_COST_END, /* tear-down, the cell's end, what is looked at after it */
    PKB_COST_COUNT
} pkb_cost;

typedef struct pkb_size_result {
    const pkb_plan_size *size;
    pkb_finding finding; /* the world's */
    pkb_timing timing;
    uint64_t cost_ns[PKB_COST_COUNT]; /* 0 = not reached */
    bool is_cell_reused;              /* an earlier size had the same process */
} pkb_size_result;

/* Something else was running while all cells stood still. */
typedef struct pkb_loud {
    bool is_heard;
    uint32_t rank; /* where it was loudest */
    uint64_t probe_ns;
} pkb_loud;

/* What the steps of one size share. */
typedef struct pkb_attempt {
    pkb_judge *judge;
    pkb_cell *cell;                                  /* NULL = none */
    pkb_finding finding;                             /* this rank's, in the present step */
    pkb_finding worst;                               /* the world's, after the last settle */
    uint32_t past[PKB_MAX_SLOTS + PKB_MAX_FAMILIES]; /* entries that the attempt has seen */
    uint32_t past_count;
    uint64_t quiet_ns; /* the probe without a cell (quiet.h) */
    pkb_loud loud;
    bool may_stay;    /* the cell is vacated: another size may have it */
    bool is_doubtful; /* it failed before its first call, in a cell that served another size */
} pkb_attempt;

/* Serves the evaluator's request; rank 0 sends the verdict. Errors are our own failures. */
pkb_code pkb_attempt_judge(pkb_judge *judge, const cJSON *request, pkb_error *err);

/* Ends a step: true if all ranks found nothing. */
pkb_code pkb_attempt_settle(pkb_attempt *attempt, bool *is_clean, pkb_error *err);
/* A new poison or guard key. */
uint64_t pkb_attempt_key(pkb_attempt *attempt);
void pkb_attempt_remember(pkb_attempt *attempt, uint32_t entry);

/* Steps, one file each; they return with attempt->worst set. Timing also ends where something is
 * heard that should not be there. */
pkb_code pkb_check_run(pkb_attempt *attempt, pkb_error *err);
pkb_code pkb_timing_run(pkb_attempt *attempt, pkb_size_result *result, pkb_error *err);

#endif
