/* SPDX-License-Identifier: Apache-2.0
 *
 * One evaluation: an attempt, a problem and a world, judged into a record.
 */
#ifndef PKB_EVALUATOR_EVALUATION_H
#define PKB_EVALUATOR_EVALUATION_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/hash.h"
#include "evaluator/attempt.h"
#include "evaluator/gpus.h"
#include "evaluator/options.h"
#include "evaluator/problem.h"
#include "evaluator/progress.h"
#include "evaluator/record.h"
#include "evaluator/tool.h"
#include "harness/sandbox/sandbox.h"

typedef struct pkb_evaluation {
    pkb_eval_options options; /* filled in by the caller */
    pkb_attempt attempt;
    pkb_catalogue catalogue;
    pkb_problem *problem;
    pkb_toolbox tools;
    pkb_eval_gpus gpus;
    pkb_sandbox_level level;
    char *debugger; /* compute-sanitizer, with --debug; NULL = none */
    char secret[PKB_HASH_HEX_BYTES];
    pkb_progress progress;
    cJSON *record;    /* the result */
    pkb_buf printed;  /* the end of what the attempt printed; empty if it is CORRECT */
    int printed_rank; /* by which rank */
    bool was_cached;
} pkb_evaluation;

/* Reads what the options name and finds what the work needs; starts nothing. */
pkb_code pkb_evaluation_prepare(pkb_evaluation *evaluation, pkb_error *err);
/* Builds, runs and judges. A failure of ours after the ranks were started is a record, too, with
 * the verdict INFRA_ERROR. */
pkb_code pkb_evaluation_run(pkb_evaluation *evaluation, pkb_error *err);
void pkb_evaluation_clear(pkb_evaluation *evaluation);

#endif
