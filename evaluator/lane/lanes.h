/* SPDX-License-Identifier: Apache-2.0
 *
 * The lanes of a call, which share a machine: jobs go to one that is idle, a new one is started
 * where there is room, one that died or hangs is replaced and its job tried once more.
 */
#ifndef PKB_EVALUATOR_LANES_H
#define PKB_EVALUATOR_LANES_H

#include <poll.h>

#include "evaluator/lane/lane.h"
#include "evaluator/lane/room.h"
#include "evaluator/lane/turns.h"
#include "harness/sandbox/message.h"

/* Both rooms full, of worlds of one place each. */
enum { PKB_LANES_MOST = 2 * PKB_ROOM_MOST };

/* Told what a lane does with an attempt. */
typedef void pkb_lanes_tell(void *context, const pkb_evaluation *evaluation, const char *step,
                            const char *detail);
/* Told what a person should know. */
typedef void pkb_lanes_note(void *context, const char *text);

typedef struct pkb_lanes {
    pkb_room gpu_room, cpu_room;
    pkb_lane *lanes[PKB_LANES_MOST];
    size_t count;
    pkb_message *message;
    pkb_lanes_tell *tell; /* may be NULL */
    pkb_lanes_note *note; /* may be NULL */
    void *context;
    pkb_lane_limits limits; /* of lanes to come */
    pkb_turns turns;
} pkb_lanes;

/* What became of an attempt. */
typedef struct pkb_lanes_result {
    pkb_evaluation
        *evaluation;   /* NULL = nothing has ended; else it has a record if failure is none */
    bool is_refused;   /* its problem cannot be judged with these options: `failure` */
    pkb_error failure; /* code PKB_OK = none; no attempt will get over others */
} pkb_lanes_result;

/* Starts none yet. */
pkb_code pkb_lanes_open(pkb_lanes *out, const pkb_room *gpu_room, const pkb_room *cpu_room,
                        pkb_error *err);
/* Waits for none: ends every lane, whatever it does. */
void pkb_lanes_close(pkb_lanes *lanes);

/* Gives an evaluation that was read to a lane of its device and world, `*is_given` false where all
 * are busy. The caller keeps it as it is until its result is taken. PKB_ERR_USAGE: this machine
 * has no room for such a world. */
pkb_code pkb_lanes_give(pkb_lanes *lanes, pkb_evaluation *evaluation, bool *is_given,
                        pkb_error *err);
/* Whether a lane of that device and world is idle. */
bool pkb_lanes_is_ready(const pkb_lanes *lanes, const pkb_setting *setting);
/* Takes what lanes have said, without waiting, until one has ended an attempt. */
pkb_code pkb_lanes_take(pkb_lanes *lanes, pkb_lanes_result *out, pkb_error *err);
/* Whether one of them times something, so that nothing else should use their cores. */
bool pkb_lanes_are_timing(const pkb_lanes *lanes);
size_t pkb_lanes_busy(const pkb_lanes *lanes);
/* Sockets to wait for, PKB_LANES_MOST at most; returns how many. */
size_t pkb_lanes_poll(const pkb_lanes *lanes, struct pollfd *fds);
/* Ends lanes that have been idle for so long. */
void pkb_lanes_end_idle(pkb_lanes *lanes, uint64_t most_ns);

#endif
