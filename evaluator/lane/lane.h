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
#include "evaluator/lane/job.h"
#include "harness/sandbox/child.h"

typedef struct pkb_lane {
    pkb_setting setting; /* what it judges with: borrowed parts of somebody's, own options */
    uint64_t places;     /* that it takes in its room */
    bool has_cores;      /* of its own */
    cpu_set_t cores;

    pkb_child process;          /* of pid 0: none runs */
    int socket_fd;              /* -1 = none */
    pkb_evaluation *evaluation; /* that it judges, borrowed; NULL = it is idle */
    bool takes_turns;           /* it times when no other does */
    bool is_timing;
    uint64_t asked; /* for its turn to time, in that order; 0 = it does not wait */
    int tries;      /* how often that was given to a process of this lane */
    uint64_t idle_since_ns;
} pkb_lane;

/* Forks the process. It dies with this one, and keeps no descriptor of it but the socket. */
pkb_code pkb_lane_start(pkb_lane *lane, pkb_error *err);
/* Has an evaluation judged that was read. PKB_ERR_CHILD: the process is gone. */
pkb_code pkb_lane_give(pkb_lane *lane, pkb_evaluation *evaluation, pkb_error *err);
/* Lets it end in good order, after which pkb_lane_end waits for that, and kills it at the deadline.
 * Both are harmless on a lane that does not run. */
void pkb_lane_close(pkb_lane *lane);
void pkb_lane_end(pkb_lane *lane, uint64_t deadline_ns);

#endif
