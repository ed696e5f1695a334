/* SPDX-License-Identifier: Apache-2.0
 *
 * The inside of a run, shared by run.c (the folder) and run_sample.c (one sample).
 */
#ifndef PKB_EVALUATOR_RUN_STATE_H
#define PKB_EVALUATOR_RUN_STATE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "evaluator/attempt/samples.h"
#include "evaluator/attempt/setting.h"
#include "evaluator/problem/problem.h"
#include "evaluator/ranks/ranks.h"
#include "evaluator/record/results.h"
#include "evaluator/run/summary.h"

typedef struct pkb_run {
    pkb_setting *setting;
    char folder[PATH_MAX];
    char name[NAME_MAX + 1]; /* of the run: the folder's */
    pkb_samples samples;
    pkb_results results;
    bool is_stored;
    pkb_ranks ranks;
    pkb_problem *problem; /* of the present sample; NULL = none yet */
    const char *refused;  /* the last problem that cannot be judged with these options */
    pkb_error refusal;
    pkb_summary summary;
    size_t judged_count, found_count, copied_count, refused_count, unread_count, pending_count;
    int failures_in_a_row;
} pkb_run;

/* A line on stderr with a text from outside. */
void pkb_run_say(pkb_run *run, const char *what, const char *text);
/* Judges a sample, or finds its record, and tells and counts it. An error ends the run. */
pkb_code pkb_run_sample(pkb_run *run, const pkb_summary_place *place, const char *path,
                        pkb_error *err);

#endif
