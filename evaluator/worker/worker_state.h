/* SPDX-License-Identifier: Apache-2.0
 *
 * The inside of a worker, shared by worker.c (waiting, queue), worker_job.c (one request)
 * and worker_ahead.c (compiling the next ones).
 */
#ifndef PKB_EVALUATOR_WORKER_STATE_H
#define PKB_EVALUATOR_WORKER_STATE_H

#include "base/lines.h"
#include "evaluator/lane/foresight.h"
#include "evaluator/lane/lanes.h"
#include "evaluator/problem/shelf.h"
#include "evaluator/record/results.h"
#include "evaluator/worker/memo.h"
#include "evaluator/worker/numbering.h"
#include "evaluator/worker/request.h"
#include "evaluator/worker/worker.h"

/* A request that is not answered yet. */
typedef struct pkb_worker_job {
    pkb_request request;
    pkb_setting setting; /* its device, world, sizes and timing; borrowed parts of the worker's */
    pkb_evaluation evaluation;
    char judgement[PKB_HASH_HEX_BYTES];
    size_t number; /* from 0, as they came */
    bool is_away;  /* a lane has it */
    int overtaken; /* by later ones, for which a lane of their kind was idle */
} pkb_worker_job;

enum { PKB_WORKER_JOBS = PKB_WORKER_QUEUE + PKB_LANES_MOST };

typedef struct pkb_worker {
    const pkb_setting *setting;
    const pkb_eval_options *given;
    pkb_setting *kinds[2 * PKB_MAX_WORLD]; /* settings of a device and world each, once asked for */
    size_t kind_count;
    pkb_lines input;
    bool has_ended;                        /* the input */
    pkb_worker_job *jobs[PKB_WORKER_JOBS]; /* in the order in which they came */
    size_t job_count, next_number;
    pkb_lanes lanes;
    pkb_foresight foresight;
    pkb_shelf shelf;
    pkb_memo memo;
    pkb_results results;     /* of -o; fd -1 = none */
    pkb_numbering numbering; /* of what goes there */
} pkb_worker;

/* Answers a line at once, or appends it to the jobs, of which there must be room for one. An error
 * is the worker's: what is wrong with a line is its answer. */
pkb_code pkb_worker_accept(pkb_worker *worker, const pkb_line *line, pkb_error *err);
/* Answers from what was found before; `*is_answered` false: it must be judged. */
pkb_code pkb_worker_recall(pkb_worker *worker, const pkb_worker_job *job, bool *is_answered,
                           pkb_error *err);
/* Stores a new record, and answers with it. */
pkb_code pkb_worker_answer(pkb_worker *worker, const pkb_worker_job *job, pkb_error *err);
/* `id` NULL = unknown. */
pkb_code pkb_worker_answer_error(const cJSON *id, const pkb_error *why, pkb_error *err);
/* Compiles those that no lane has yet. */
void pkb_worker_ahead_start(pkb_worker *worker);
void pkb_worker_ahead_tick(pkb_worker *worker);
void pkb_worker_job_free(pkb_worker_job *job);

#endif
