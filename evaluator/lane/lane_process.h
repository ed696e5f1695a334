/* SPDX-License-Identifier: Apache-2.0
 *
 * The process of a lane, as the command sees it; lane_serve.h is what it does.
 */
#ifndef PKB_EVALUATOR_LANE_PROCESS_H
#define PKB_EVALUATOR_LANE_PROCESS_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

#include "evaluator/attempt/setting.h"
#include "evaluator/lane/pulse.h"
#include "harness/sandbox/child.h"

typedef struct pkb_lane_process {
    pkb_child child; /* of pid 0: none runs */
    int socket_fd;   /* -1 = none */
    pkb_pulse pulse;
} pkb_lane_process;

#define PKB_LANE_PROCESS_NONE                    \
    {                                            \
        .child = PKB_CHILD_NONE, .socket_fd = -1 \
    }

/* Forks it, to judge with that setting on those cores (NULL = those of the command). It dies with
 * this one, and keeps no descriptor of it but the socket. */
pkb_code pkb_lane_process_start(pkb_lane_process *process, pkb_setting *setting,
                                const cpu_set_t *cores, pkb_error *err);
/* Lets it end in good order, after which pkb_lane_process_end waits for that, and kills it at the
 * deadline. Both are harmless where none runs. */
void pkb_lane_process_close(pkb_lane_process *process);
void pkb_lane_process_end(pkb_lane_process *process, uint64_t deadline_ns);

#endif
