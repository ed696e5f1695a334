/* SPDX-License-Identifier: Apache-2.0
 *
 * A lane: one world, in a process of its own, that judges attempts one after another. Here is the
 * side of the command, which alone writes results; lane_serve.h is the other one.
 */
#ifndef PKB_EVALUATOR_LANE_H
#define PKB_EVALUATOR_LANE_H

#include <sched.h>
#include <stdint.h>

#include "evaluator/attempt/evaluation.h"
#include "evaluator/attempt/setting.h"
#include "evaluator/lane/lane_process.h"

/* What it judges. */
typedef struct pkb_lane_work {
    pkb_evaluation *evaluation; /* borrowed; NULL = the lane is idle */
    int tries;                  /* how often that was given to a process of this lane */
    uint64_t idle_since_ns;
} pkb_lane_work;

/* Starts of its process that failed in a row because the machine lacked something. */
typedef struct pkb_lane_starts {
    int failures;
    uint64_t next_ns; /* when it is tried again */
    pkb_error why;    /* of the last one */
} pkb_lane_starts;

/* What its process is allowed. */
typedef struct pkb_lane_limits {
    uint64_t pause_ns;  /* after the first failed start, then twice as long each time */
    uint64_t silent_ns; /* without a sign of life while it judges */
} pkb_lane_limits;

/* Whether it may time; turns.h gives turns. */
typedef struct pkb_lane_turn {
    bool is_exclusive; /* it times when no other does, and no compiler of another one runs */
    bool is_had;       /* it times */
    uint64_t asked;    /* for a turn, in that order; 0 = it does not wait */
    bool must_rest;    /* its compilers must stand still */
    bool is_told;      /* its process was told so; one without work hears it with the next */
    bool rests;        /* they do */
} pkb_lane_turn;

typedef struct pkb_lane {
    pkb_setting setting; /* what it judges with: borrowed parts of somebody's, own options */
    uint64_t places;     /* that it takes in its room */
    bool has_cores;      /* of its own */
    cpu_set_t cores;

    pkb_lane_limits limits;
    pkb_lane_process process;
    pkb_lane_starts starts;
    pkb_lane_work work;
    pkb_lane_turn turn;
} pkb_lane;

/* Tries to start a process. */
enum { PKB_LANE_MOST_STARTS = 8 };

/* Has an evaluation judged that was read, in a new process where none runs. PKB_OK also where the
 * machine lacks something for that now (`starts` says what): pkb_lane_tick tries again. */
pkb_code pkb_lane_give(pkb_lane *lane, pkb_evaluation *evaluation, pkb_error *err);
/* Gives what it judges to another process, in the same way. */
pkb_code pkb_lane_try_again(pkb_lane *lane, pkb_error *err);
/* To be called now and then. */
pkb_code pkb_lane_tick(pkb_lane *lane, pkb_error *err);
/* Whether its process should be judging, and has shown no sign of life for too long. */
bool pkb_lane_is_silent(pkb_lane *lane);
/* It is idle from now on; returns what it judged. */
pkb_evaluation *pkb_lane_finish(pkb_lane *lane);
bool pkb_lane_is_idle(const pkb_lane *lane);
/* Its compilers must stand still, or may go on. */
void pkb_lane_rest(pkb_lane *lane, bool must_rest);

#endif
