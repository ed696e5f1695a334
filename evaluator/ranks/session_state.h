/* SPDX-License-Identifier: Apache-2.0
 *
 * The inside of a session, shared by session.c (start, waits, end) and session_event.c (what the
 * judges say).
 */
#ifndef PKB_EVALUATOR_SESSION_STATE_H
#define PKB_EVALUATOR_SESSION_STATE_H

#include "evaluator/ranks/session.h"
#include "harness/sandbox/child.h"
#include "harness/sandbox/message.h"

enum { PKB_SESSION_RANKS = 64 };

typedef struct pkb_judge_link {
    int socket_fd, pidfd; /* -1 = none */
    int rank;             /* -1 until it has said hello */
    bool is_open;         /* it has opened the plan */
} pkb_judge_link;

typedef enum pkb_turn { PKB_TURN_NONE, PKB_TURN_WANTED, PKB_TURN_HAD } pkb_turn;

struct pkb_session {
    pkb_session_options options;
    const pkb_plan *plan; /* NULL = nothing was asked to be opened */
    char secret[PKB_HASH_HEX_BYTES];
    pkb_child mpirun;
    int listener;
    pkb_judge_link judges[PKB_SESSION_RANKS]; /* in the order in which they came */
    size_t judge_count, opened_count;
    pkb_message *message;
    char *plan_path, *log_path;
    char size[64], step[96]; /* what the ranks said last */
    pkb_turn turn;           /* to time something */
    bool is_judging;         /* an attempt was sent, its verdict is not there yet */
    bool has_lacked;         /* a judge ran out of something */
    uint64_t oom_kills;      /* on this machine, when the attempt was sent */
    cJSON *verdict;
    pkb_error failure; /* the first one; code PKB_OK = none */
};

/* Sends the present plan to a judge. */
pkb_code pkb_session_send_open(pkb_session *session, const pkb_judge_link *judge, pkb_error *err);

#endif
