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

/* Whether one of those that share cores times. */
static bool has_exclusive(pkb_lane *const *lanes, size_t count)
{
    bool is_any = false;
    for (size_t i = 0; i < count; i++)
        is_any |= lanes[i]->turn.is_had && lanes[i]->turn.is_exclusive;
    return is_any;
}

/* Whether all but `lane` do so already. */
static bool have_rested(pkb_lane *const *lanes, size_t count, const pkb_lane *lane)
{
    bool do_rest = true;

    for (size_t i = 0; i < count; i++)
        if (lanes[i] != lane) {
            pkb_lane_rest(lanes[i], true);
            do_rest &= lanes[i]->turn.rests;
        }
    return do_rest;
}

/* One that has not heard yet that it must rest is let go on when it has, so that what it says then
 * is not taken for an answer to the next time. */
static void let_go_on(pkb_lane *const *lanes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (lanes[i]->turn.rests)
            pkb_lane_rest(lanes[i], false);
}

static void give(pkb_turns *turns, pkb_lane *lane)
{
    lane->turn.asked = 0;
    lane->turn.is_had = true;
    if (turns->before != NULL)
        turns->before(turns->context);
    pkb_order_send(lane->process.socket_fd, PKB_ORDER_TIME, NULL); /* its end is seen later */
}

void pkb_turns_give(pkb_turns *turns, pkb_lane *const *lanes, size_t count)
{
    pkb_lane *lane;

    while ((lane = find_next(lanes, count)) != NULL) {
        turns->all_rest = turns->all_rest || lane->turn.is_exclusive;
        if (lane->turn.is_exclusive && !have_rested(lanes, count, lane))
            return;
        give(turns, lane);
    }
    turns->all_rest = has_exclusive(lanes, count);
    if (!turns->all_rest)
        let_go_on(lanes, count);
}
