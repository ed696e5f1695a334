/* SPDX-License-Identifier: Apache-2.0
 *
 * Process, work and turn of a lane; see lane.h.
 */
#include "evaluator/lane/lane.h"

#include <errno.h>

#include "base/clock.h"
#include "evaluator/lane/job.h"

static bool is_running(const pkb_lane *lane)
{
    return lane->process.child.pid != 0;
}

static pkb_code tell_rest(pkb_lane *lane, pkb_error *err)
{
    pkb_lane_turn *turn = &lane->turn;

    if (turn->is_told == turn->must_rest)
        return PKB_OK;
    turn->is_told = turn->must_rest;
    return pkb_order_send(lane->process.socket_fd,
                          turn->must_rest ? PKB_ORDER_REST : PKB_ORDER_GO_ON, err);
}

/* A process that has no work yet has no compilers either. */
static pkb_code send_work(pkb_lane *lane, pkb_error *err)
{
    const pkb_job job = pkb_job_of(lane->work.evaluation);

    lane->work.tries++;
    lane->turn.rests = true;
    pkb_pulse_listen(&lane->process.pulse);
    pkb_code rc = tell_rest(lane, err);
    return rc == PKB_OK ? pkb_job_send(lane->process.socket_fd, &job, err) : rc;
}

/* Whether there may be enough of what lacked in a while. */
static bool is_lack(const pkb_error *why)
{
    static const int lacks[] = {EAGAIN, ENOMEM, EMFILE, ENFILE, ENOBUFS};

    for (size_t i = 0; i < sizeof lacks / sizeof lacks[0]; i++)
        if (why->detail == lacks[i] && why->code != PKB_ERR_USAGE)
            return true;
    return false;
}

static pkb_code wait_for_more(pkb_lane *lane, pkb_code rc, pkb_error *err)
{
    pkb_lane_starts *starts = &lane->starts;

    if (is_lack(&starts->why) && ++starts->failures < PKB_LANE_MOST_STARTS) {
        starts->next_ns =
            pkb_clock_now_ns() + (lane->limits.pause_ns << (unsigned)(starts->failures - 1));
        return PKB_OK;
    }
    return pkb_error_set(err, rc, starts->why.detail,
                         "the process of a world cannot be started: %s", starts->why.message);
}

/* Starts the process with what it is to judge. One that is gone at once is seen when something is
 * taken from it. */
static pkb_code start(pkb_lane *lane, pkb_error *err)
{
    const cpu_set_t *cores = lane->has_cores ? &lane->cores : NULL;
    pkb_error *why = &lane->starts.why;

    pkb_code rc = pkb_lane_process_start(&lane->process, &lane->setting, cores, why);
    if (rc == PKB_OK) {
        lane->turn.is_told = false;
        rc = send_work(lane, why);
        rc = rc == PKB_ERR_CHILD ? PKB_OK : rc;
    }
    if (rc == PKB_OK) {
        lane->starts = (pkb_lane_starts){0};
        return PKB_OK;
    }
    pkb_lane_process_end(&lane->process, 0);
    return wait_for_more(lane, rc, err);
}

pkb_code pkb_lane_give(pkb_lane *lane, pkb_evaluation *evaluation, pkb_error *err)
{
    lane->work.evaluation = evaluation;
    if (is_running(lane) && send_work(lane, NULL) == PKB_OK)
        return PKB_OK;
    lane->work.tries = 0; /* it died while it was idle, so that was none */
    return pkb_lane_try_again(lane, err);
}

static void lose_turn(pkb_lane *lane)
{
    lane->turn.is_had = false;
    lane->turn.asked = 0;
}

pkb_code pkb_lane_try_again(pkb_lane *lane, pkb_error *err)
{
    pkb_lane_process_end(&lane->process, pkb_clock_now_ns() + PKB_NS_PER_S);
    lose_turn(lane);
    return start(lane, err);
}

pkb_code pkb_lane_tick(pkb_lane *lane, pkb_error *err)
{
    if (pkb_lane_is_idle(lane) || is_running(lane) || pkb_clock_left_ns(lane->starts.next_ns) > 0)
        return PKB_OK;
    return start(lane, err);
}

bool pkb_lane_is_silent(pkb_lane *lane)
{
    return !pkb_lane_is_idle(lane) && is_running(lane) &&
           pkb_pulse_silent_ns(&lane->process.pulse) > lane->limits.silent_ns;
}

pkb_evaluation *pkb_lane_finish(pkb_lane *lane)
{
    pkb_evaluation *evaluation = lane->work.evaluation;

    lane->work = (pkb_lane_work){.idle_since_ns = pkb_clock_now_ns()};
    lose_turn(lane);
    lane->turn.rests = true;
    return evaluation;
}

/* One that has no work is not disturbed: should it be stopped, its socket would fill up. */
void pkb_lane_rest(pkb_lane *lane, bool must_rest)
{
    if (lane->turn.must_rest == must_rest)
        return;
    lane->turn.must_rest = must_rest;
    lane->turn.rests = pkb_lane_is_idle(lane) || !is_running(lane);
    if (!lane->turn.rests)
        tell_rest(lane, NULL); /* that it is gone is seen later */
}

bool pkb_lane_is_idle(const pkb_lane *lane)
{
    return lane->work.evaluation == NULL;
}
