/* SPDX-License-Identifier: Apache-2.0
 *
 * The file run.json of an imported run: which attempts were planned, and what they came from
 * (docs/completions.md).
 */
#ifndef PKB_EVALUATOR_RUN_PLAN_H
#define PKB_EVALUATOR_RUN_PLAN_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "evaluator/attempt/sample_status.h"
#include "evaluator/problem/catalogue.h"

typedef struct pkb_run_plan {
    cJSON *models, *prompts; /* seen; NULL = none */
    bool is_new;             /* it was written, and not there before */
    size_t problems, samples;
} pkb_run_plan;

/* Notes where a reply came from. */
pkb_code pkb_run_plan_take(pkb_run_plan *plan, const pkb_reply *reply, pkb_error *err);
/* Writes `folder`/run.json from what was noted and the samples that are there, unless there is one:
 * it may say more than can be seen here. */
pkb_code pkb_run_plan_write(pkb_run_plan *plan, const char *folder, const pkb_catalogue *catalogue,
                            pkb_error *err);
void pkb_run_plan_clear(pkb_run_plan *plan);

#endif
