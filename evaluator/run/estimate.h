/* SPDX-License-Identifier: Apache-2.0
 *
 * How long attempts will take: as long as those did that records tell of, else a rule of thumb.
 */
#ifndef PKB_EVALUATOR_ESTIMATE_H
#define PKB_EVALUATOR_ESTIMATE_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

#include "evaluator/attempt/options.h"
#include "evaluator/problem/problem.h"
#include "evaluator/record/names.h"

typedef struct pkb_estimate_row {
    const char *problem;
    double seconds;
    size_t count;
} pkb_estimate_row;

typedef struct pkb_estimate {
    const pkb_eval_options *options; /* borrowed, filled in by the caller */
    pkb_names names;
    pkb_estimate_row *rows;
    size_t count;
    bool is_cut; /* no memory for more records: those there are must do */
} pkb_estimate;

/* Takes the costs of a record that was judged as the options say; others say nothing. */
void pkb_estimate_take(pkb_estimate *estimate, const cJSON *record);
/* Seconds an attempt at the problem; `*is_measured`: records of this problem say so. */
double pkb_estimate_seconds(const pkb_estimate *estimate, const pkb_problem *problem,
                            bool *is_measured);
void pkb_estimate_clear(pkb_estimate *estimate);

#endif
