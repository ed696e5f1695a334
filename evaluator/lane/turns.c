/* SPDX-License-Identifier: Apache-2.0
 *
 * Gives turns; see turns.h.
 */
#include "evaluator/lane/turns.h"

#include "evaluator/lane/job.h"

void pkb_turns_ask(pkb_turns *turns, pkb_lane *lane)
{
    lane->turn.asked = ++turns->asked_count;
}

void pkb_turns_end(pkb_lane *lane)
{
    lane->turn.is_had = false;
}

bool pkb_turns_are_had(pkb_lane *const *lanes, size_t count)
{
    bool are_had = false;
    for (size_t i = 0; i < count; i++)
        are_had |= lanes[i]->turn.is_had;
    return are_had;
}

/* The lane that has waited for its turn longest, and may have it now; NULL = none. */
static pkb_lane *find_next(pkb_lane *const *lanes, size_t count)
{
    pkb_lane *next = NULL;
    const bool is_free = !pkb_turns_are_had(lanes, count);

    for (size_t i = 0; i < count; i++) {
        const pkb_lane_turn *turn = &lanes[i]->turn;
        if (turn->asked > 0 && (is_free || !turn->is_exclusive) &&
            (next == NULL || turn->asked < next->turn.asked))
            next = lanes[i];
    }
    return next;
}

void pkb_turns_give(pkb_turns *turns, pkb_lane *const *lanes, size_t count)
{
    for (pkb_lane *lane; (lane = find_next(lanes, count)) != NULL;) {
        lane->turn.asked = 0;
        lane->turn.is_had = true;
        if (turns->before != NULL)
            turns->before(turns->context);
        pkb_job_send_turn(lane->process.socket_fd, NULL); /* that one is gone is seen later */
    }
}
