/* SPDX-License-Identifier: Apache-2.0
 *
 * Process, work and turn of a lane; see lane.h.
 */
#include "evaluator/lane/lane.h"

#include "base/clock.h"
#include "evaluator/lane/job.h"

pkb_code pkb_lane_start(pkb_lane *lane, pkb_error *err)
{
    lane->work.idle_since_ns = pkb_clock_now_ns();
    return pkb_lane_process_start(&lane->process, &lane->setting,
                                  lane->has_cores ? &lane->cores : NULL, err);
}

pkb_code pkb_lane_give(pkb_lane *lane, pkb_evaluation *evaluation, pkb_error *err)
{
    const pkb_job job = pkb_job_of(evaluation);

    lane->work.evaluation = evaluation;
    lane->work.tries++;
    return pkb_job_send(lane->process.socket_fd, &job, err);
}

static void lose_turn(pkb_lane *lane)
{
    lane->turn = (pkb_lane_turn){.is_exclusive = lane->turn.is_exclusive};
}

pkb_code pkb_lane_try_again(pkb_lane *lane, pkb_error *err)
{
    pkb_lane_process_end(&lane->process, pkb_clock_now_ns() + PKB_NS_PER_S);
    lose_turn(lane);
    pkb_code rc = pkb_lane_start(lane, err);
    if (rc == PKB_OK)
        rc = pkb_lane_give(lane, lane->work.evaluation, err);
    return rc == PKB_ERR_CHILD ? PKB_OK : rc;
}

pkb_evaluation *pkb_lane_finish(pkb_lane *lane)
{
    pkb_evaluation *evaluation = lane->work.evaluation;

    lane->work = (pkb_lane_work){.idle_since_ns = pkb_clock_now_ns()};
    lose_turn(lane);
    return evaluation;
}

bool pkb_lane_is_idle(const pkb_lane *lane)
{
    return lane->work.evaluation == NULL;
}
