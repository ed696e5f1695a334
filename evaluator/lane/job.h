/* SPDX-License-Identifier: Apache-2.0
 *
 * What the command and its lanes say to each other (docs/protocol.md, section 6): one message each,
 * a long text beside it as an unnamed file, so that nothing is ever seen half.
 */
#ifndef PKB_EVALUATOR_JOB_H
#define PKB_EVALUATOR_JOB_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "evaluator/attempt/evaluation.h"
#include "harness/sandbox/message.h"

/* An attempt to judge. Texts are borrowed, from an evaluation or from `json`. */
typedef struct pkb_job {
    const char *problem, *run, *file, *sizes; /* run may be NULL */
    int64_t sample;
    bool is_timed;
    const char *source;
    size_t source_bytes;
    cJSON *json;  /* of one that was received; NULL = of an evaluation */
    pkb_buf text; /* its source */
} pkb_job;

pkb_job pkb_job_of(const pkb_evaluation *evaluation);
pkb_code pkb_job_send(int socket_fd, const pkb_job *job, pkb_error *err);
/* From a message; the caller clears. */
pkb_code pkb_job_receive(pkb_job *out, const pkb_message *message, pkb_error *err);
void pkb_job_clear(pkb_job *job);

/* The other things that are said to a lane. */
typedef enum pkb_order {
    PKB_ORDER_NONE,
    PKB_ORDER_TIME, /* it may time */
    PKB_ORDER_REST, /* its compilers must stand still, since another times: it says when they do */
    PKB_ORDER_GO_ON /* they need not any more */
} pkb_order;

pkb_code pkb_order_send(int socket_fd, pkb_order order, pkb_error *err);
/* PKB_ORDER_NONE: the message is something else. */
pkb_order pkb_order_of(const pkb_message *message);

/* What a lane answers. */
typedef enum pkb_reply_kind {
    PKB_REPLY_STEP,     /* what it does now */
    PKB_REPLY_MAY_TIME, /* it waits for its turn to time */
    PKB_REPLY_TIMED,    /* that turn is over */
    PKB_REPLY_RESTS,    /* no compiler of its runs, nor will one until it may go on */
    PKB_REPLY_RECORD,   /* the attempt was judged */
    PKB_REPLY_REFUSED,  /* the problem cannot be judged with these options: `failure` */
    PKB_REPLY_FAILED    /* something that no attempt will get over: `failure` */
} pkb_reply_kind;

typedef struct pkb_lane_reply {
    pkb_reply_kind kind;
    char step[96], detail[96];
    cJSON *record; /* the caller's */
    pkb_error failure;
} pkb_lane_reply;

pkb_code pkb_lane_reply_send_step(int socket_fd, const char *step, const char *detail,
                                  pkb_error *err);
/* A reply that says nothing but its kind. */
pkb_code pkb_lane_reply_send_word(int socket_fd, pkb_reply_kind kind, pkb_error *err);
pkb_code pkb_lane_reply_send_record(int socket_fd, const cJSON *record, pkb_error *err);
pkb_code pkb_lane_reply_send_failure(int socket_fd, pkb_reply_kind kind, const pkb_error *failure,
                                     pkb_error *err);
pkb_code pkb_lane_reply_receive(pkb_lane_reply *out, const pkb_message *message, pkb_error *err);

#endif
