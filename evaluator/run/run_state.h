/* SPDX-License-Identifier: Apache-2.0
 *
 * The inside of a run, shared by run.c (the folder), run_sample.c (one sample),
 * run_flight.c (those that lanes judge), run_ahead.c (compiling the next ones) and run_end.c (what
 * is said at the end).
 */
#ifndef PKB_EVALUATOR_RUN_STATE_H
#define PKB_EVALUATOR_RUN_STATE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "evaluator/attempt/samples.h"
#include "evaluator/attempt/setting.h"
#include "evaluator/lane/foresight.h"
#include "evaluator/lane/lanes.h"
#include "evaluator/problem/shelf.h"
#include "evaluator/record/results.h"
#include "evaluator/run/estimate.h"
#include "evaluator/run/rejudge.h"
#include "evaluator/run/summary.h"

/* After so many failures of ours in a row it is plain that the next attempts would fail, too. */
enum { PKB_RUN_MOST_FAILURES = 3 };

/* A sample that a lane judges. */
typedef struct pkb_run_flight {
    pkb_summary_place place;
    pkb_evaluation evaluation;
    char judgement[PKB_HASH_HEX_BYTES];
    int64_t revision; /* of its record */
} pkb_run_flight;

/* A sample that waits for an equal one's record. */
typedef struct pkb_run_held {
    size_t index;
    char judgement[PKB_HASH_HEX_BYTES];
} pkb_run_held;

typedef struct pkb_run {
    pkb_setting *setting;
    char folder[PATH_MAX];
    char name[NAME_MAX + 1]; /* of the run: the folder's */
    pkb_samples samples;
    int name_columns; /* of the widest "problem/sample" */
    pkb_rejudge rejudge;
    pkb_results results;
    pkb_estimate estimate; /* of --dry-run */
    bool is_stored;
    bool has_other_kinds; /* of records, in its folder: a score has to be told which it is of */
    pkb_lanes lanes;
    pkb_shelf shelf;
    size_t world_count;                      /* lanes that there may be */
    pkb_run_flight *flights[PKB_LANES_MOST]; /* in the order in which they were given */
    size_t flight_count;
    pkb_run_held *held;
    size_t held_count, held_capacity;
    const char *refused; /* the last problem that cannot be judged with these options */
    pkb_error refusal;
    pkb_summary summary;
    size_t judged_count, found_count, copied_count, refused_count, unread_count, pending_count;
    size_t outside_count; /* links out of the folder and the like in the place of samples */
    int failures_in_a_row;
    uint64_t start_ns; /* of the first attempt */
    pkb_foresight foresight;
} pkb_run;

/* A line on stderr with a text from outside. */
void pkb_run_say(pkb_run *run, const char *what, const char *text);
/* What is to be read and judged of a sample; the caller clears. */
pkb_code pkb_run_evaluation(pkb_run *run, size_t index, pkb_evaluation *out, pkb_error *err);
/* Finds the record of a sample, tells and counts it; or gives the sample to a lane, of which one
 * must be idle. An error ends the run. */
pkb_code pkb_run_sample(pkb_run *run, size_t index, pkb_error *err);
/* Takes what lanes have judged, until at most `most` samples are with them. */
pkb_code pkb_run_wait(pkb_run *run, size_t most, pkb_error *err);
/* Whether the sample that was read, or an equal one, has been judged. */
bool pkb_run_has_record(const pkb_run *run, const pkb_evaluation *evaluation);

/* Compiles the next samples from now on; where that cannot be, it changes nothing. */
void pkb_run_ahead_start(pkb_run *run);
/* Samples below `begun` are no coming ones any more. */
void pkb_run_ahead_move(pkb_run *run, size_t begun);

/* Shows how far the run is. */
void pkb_run_show_bar(pkb_run *run);

/* Attempts that have no verdict. */
size_t pkb_run_left_count(const pkb_run *run);
/* Table, counts, and what to type next: the words of the command line, where that is to go on. */
void pkb_run_tell_end(const pkb_run *run, bool was_interrupted, int argc, char **argv);

/* Ends all lanes, whatever they do, and forgets what they did. */
void pkb_run_end_lanes(pkb_run *run);

#endif
