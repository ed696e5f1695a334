/* SPDX-License-Identifier: Apache-2.0
 *
 * The process of a lane: it owns ranks, judges one attempt after another, and answers with records.
 */
#ifndef PKB_EVALUATOR_LANE_SERVE_H
#define PKB_EVALUATOR_LANE_SERVE_H

#include "evaluator/attempt/setting.h"
#include "evaluator/lane/pulse.h"

/* Serves jobs from the socket until it is closed or a signal came, then ends what it started. The
 * result is the exit status. Sizes and timing of the setting are those of the job. While it judges,
 * the pulse beats. */
int pkb_lane_serve(int socket_fd, pkb_setting *setting, const pkb_pulse *pulse);

#endif
