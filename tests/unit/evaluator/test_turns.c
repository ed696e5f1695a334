/* SPDX-License-Identifier: Apache-2.0
 *
 * Tests of evaluator/lane/turns.c and lane.c with lanes that are sockets only: what is said to
 * whom, in which order.
 */
#include "evaluator/lane/turns.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <unistd.h>

#include "evaluator/lane/job.h"

enum { LANES = 2 };

typedef struct world {
    pkb_lane all[LANES], *lanes[LANES];
    int ends[LANES]; /* where a lane's process would listen */
    pkb_evaluation evaluation;
    pkb_setting setting;
    pkb_problem problem;
    pkb_turns turns;
    pkb_message *message;
} world;

static char source[] = "int a;";

/* All busy, and on the same cores. */
static int open_world(void **state)
{
    world *made = calloc(1, sizeof *made);

    if (made == NULL || pkb_message_create(&made->message, NULL) != PKB_OK)
        return -1;
    made->setting.options.sizes = "tiny";
    made->problem.full_name = "001_allreduce";
    made->evaluation = (pkb_evaluation){.setting = &made->setting,
                                        .problem = &made->problem,
                                        .file = "a.cu",
                                        .attempt = {.source = source, .bytes = sizeof source - 1}};
    for (int i = 0; i < LANES; i++) {
        int pair[2];
        if (pkb_socket_pair(pair, 0, NULL) != PKB_OK)
            return -1;
        made->ends[i] = pair[1];
        made->lanes[i] = &made->all[i];
        made->all[i] =
            (pkb_lane){.process = {.child = {.pid = getpid(), .pidfd = -1}, .socket_fd = pair[0]},
                       .work = {.evaluation = &made->evaluation},
                       .turn = {.is_exclusive = true}};
    }
    *state = made;
    return 0;
}

static int close_world(void **state)
{
    world *made = *state;

    for (int i = 0; i < LANES; i++) {
        close(made->ends[i]);
        close(made->all[i].process.socket_fd);
    }
    pkb_message_free(made->message);
    free(made);
    return 0;
}

static void give(world *it)
{
    pkb_turns_give(&it->turns, it->lanes, LANES);
}

/* The next thing that was said to a lane; PKB_ORDER_NONE also where nothing was. */
static pkb_order heard(world *it, int lane)
{
    return pkb_message_receive(it->ends[lane], it->message, 0, NULL) == PKB_OK
               ? pkb_order_of(it->message)
               : PKB_ORDER_NONE;
}

static bool has_heard(const world *it, int lane)
{
    return pkb_socket_is_readable(it->ends[lane]);
}

static void a_turn_waits_until_the_others_rest(void **state)
{
    world *it = *state;

    pkb_turns_ask(&it->turns, it->lanes[0]);
    give(it);
    assert_false(has_heard(it, 0));
    assert_int_equal(heard(it, 1), PKB_ORDER_REST);
    give(it);
    assert_false(has_heard(it, 0) || has_heard(it, 1));
    it->all[1].turn.rests = true;
    give(it);
    assert_int_equal(heard(it, 0), PKB_ORDER_TIME);
    assert_true(pkb_turns_are_had(it->lanes, LANES));
    assert_false(has_heard(it, 1));
    pkb_turns_end(it->lanes[0]);
    give(it);
    assert_int_equal(heard(it, 1), PKB_ORDER_GO_ON);
    assert_false(has_heard(it, 0));
}

static void who_has_not_answered_yet_is_not_let_go_on(void **state)
{
    world *it = *state;

    pkb_turns_ask(&it->turns, it->lanes[0]);
    give(it);
    assert_int_equal(heard(it, 1), PKB_ORDER_REST);
    pkb_lane_finish(it->lanes[0]); /* its ranks have died, say */
    give(it);
    assert_false(has_heard(it, 1));
    it->all[1].turn.rests = true;
    give(it);
    assert_int_equal(heard(it, 1), PKB_ORDER_GO_ON);
}

static void an_idle_lane_hears_it_with_its_next_job(void **state)
{
    world *it = *state;

    pkb_lane_finish(it->lanes[1]);
    pkb_turns_ask(&it->turns, it->lanes[0]);
    give(it);
    assert_int_equal(heard(it, 0), PKB_ORDER_TIME);
    assert_false(has_heard(it, 1));
    assert_int_equal(pkb_lane_give(it->lanes[1], &it->evaluation, NULL), PKB_OK);
    assert_int_equal(heard(it, 1), PKB_ORDER_REST);
    assert_int_equal(heard(it, 1), PKB_ORDER_NONE); /* the job */
    assert_false(has_heard(it, 1));
    pkb_turns_end(it->lanes[0]);
    give(it);
    assert_int_equal(heard(it, 1), PKB_ORDER_GO_ON);
}

static void turns_are_given_in_the_order_in_which_they_were_asked_for(void **state)
{
    world *it = *state;

    pkb_turns_ask(&it->turns, it->lanes[1]);
    pkb_turns_ask(&it->turns, it->lanes[0]);
    it->all[0].turn.must_rest = it->all[0].turn.is_told = it->all[0].turn.rests = true;
    it->all[1].turn.must_rest = it->all[1].turn.is_told = it->all[1].turn.rests = true;
    give(it);
    assert_int_equal(heard(it, 1), PKB_ORDER_TIME);
    assert_false(has_heard(it, 0));
    pkb_turns_end(it->lanes[1]);
    give(it);
    assert_int_equal(heard(it, 0), PKB_ORDER_TIME);
}

static void lanes_with_cores_of_their_own_wait_for_nobody(void **state)
{
    world *it = *state;

    for (int i = 0; i < LANES; i++) {
        it->all[i].turn.is_exclusive = false;
        pkb_turns_ask(&it->turns, it->lanes[i]);
    }
    give(it);
    for (int i = 0; i < LANES; i++) {
        assert_int_equal(heard(it, i), PKB_ORDER_TIME);
        assert_false(has_heard(it, i));
    }
}

#define IN_WORLD(test) cmocka_unit_test_setup_teardown(test, open_world, close_world)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_WORLD(a_turn_waits_until_the_others_rest),
        IN_WORLD(who_has_not_answered_yet_is_not_let_go_on),
        IN_WORLD(an_idle_lane_hears_it_with_its_next_job),
        IN_WORLD(turns_are_given_in_the_order_in_which_they_were_asked_for),
        IN_WORLD(lanes_with_cores_of_their_own_wait_for_nobody),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
