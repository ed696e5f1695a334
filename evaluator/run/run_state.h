/* SPDX-License-Identifier: Apache-2.0
 *
 * The inside of a run, shared by run.c (the folder), run_sample.c (one sample) and run_ahead.c
 * (compiling the next ones).
 */
#ifndef PKB_EVALUATOR_RUN_STATE_H
#define PKB_EVALUATOR_RUN_STATE_H

#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>

#include "evaluator/attempt/evaluation.h"
#include "evaluator/attempt/samples.h"
#include "evaluator/attempt/setting.h"
#include "evaluator/compile/ahead.h"
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
    pkb_ahead *ahead;           /* NULL = nothing is compiled ahead */
    pkb_problem *problem_ahead; /* of the sample that it looked at last */
    cpu_set_t compiler_cores;
    bool compiles_apart; /* on these, which nobody else uses */
} pkb_run;

/* A line on stderr with a text from outside. */
void pkb_run_say(pkb_run *run, const char *what, const char *text);
/* Judges a sample, or finds its record, and tells and counts it. An error ends the run. */
pkb_code pkb_run_sample(pkb_run *run, const pkb_summary_place *place, const char *path,
                        pkb_error *err);

/* Has `*problem` be the one of that name. */
pkb_code pkb_run_open_problem(const pkb_run *run, pkb_problem **problem, const char *name,
                              pkb_error *err);
/* Whether the sample that was read, or an equal one, has been judged. */
bool pkb_run_has_record(pkb_run *run, const pkb_evaluation *evaluation);

/* Compiles the next samples from now on; where that cannot be, it changes nothing. */
void pkb_run_ahead_start(pkb_run *run);
/* Samples below `begun` are no coming ones any more. */
void pkb_run_ahead_move(pkb_run *run, size_t begun);
void pkb_run_ahead_end(pkb_run *run);

#endif
