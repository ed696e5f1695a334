/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/judge/world.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/stats.h"
#include "tests/unit/hung.h"

/* Ranks that spin on too few cores wait for each other a whole time slice a round. */
enum { WORLD = 4, ROUNDS = 300, SPINNING_ROUNDS = 20 };

static const pkb_watch nobody = {.control_fd = -1, .runner_fd = -1};

typedef int rank_program(pkb_judge_world *world);

/* Runs a program on WORLD processes that share a page; fails unless all of them return 0. */
static void run_world(rank_program *program, bool spin)
{
    pkb_judge_world world;
    pid_t pids[WORLD];
    assert_int_equal(pkb_judge_world_create(&world, WORLD, &nobody, NULL), PKB_OK);
    for (uint32_t rank = 0; rank < WORLD; rank++) {
        pids[rank] = fork();
        if (pids[rank] == 0) {
            alarm(PKB_TEST_HUNG_NS / PKB_NS_PER_S);
            world.rank = rank;
            world.spin = spin;
            _exit(program(&world));
        }
    }
    for (uint32_t rank = 0; rank < WORLD; rank++) {
        int status = -1;
        waitpid(pids[rank], &status, 0);
        assert_int_equal(status, 0);
    }
    pkb_judge_world_clear(&world);
}

/* Each rank must find the others' numbers of this round, never of the last or the next. */
static int share_many(pkb_judge_world *world)
{
    uint64_t all[WORLD], random = world->rank;
    const uint64_t rounds = world->spin ? SPINNING_ROUNDS : ROUNDS;
    for (uint64_t round = 0; round < rounds; round++) {
        if (pkb_random_next(&random) % 16 == 0)
            pkb_clock_sleep_ns(pkb_random_next(&random) % 200000);
        if (pkb_judge_world_share(world, round * WORLD + world->rank, all, NULL) != PKB_OK)
            return 1;
        for (uint64_t rank = 0; rank < WORLD; rank++)
            if (all[rank] != round * WORLD + rank)
                return 2;
    }
    return 0;
}

static void barriers_exchange_this_rounds_numbers(void **state)
{
    (void)state;
    run_world(share_many, false);
}

static void barriers_work_while_spinning(void **state)
{
    (void)state;
    run_world(share_many, true);
}

static int settle_mixed(pkb_judge_world *world)
{
    pkb_finding mine, worst;
    pkb_finding_init(&mine, world->rank);
    if (pkb_judge_world_settle(world, &mine, &worst, NULL) != PKB_OK ||
        !pkb_finding_is_clean(&worst))
        return 1;
    if (world->rank == 0)
        pkb_finding_set(&mine, PKB_VERDICT_TIMEOUT, "rank 0 waits");
    if (world->rank >= 2)
        pkb_finding_set(&mine, PKB_VERDICT_CRASH, "rank %u crashed", world->rank);
    if (pkb_judge_world_settle(world, &mine, &worst, NULL) != PKB_OK)
        return 2;
    return strcmp(worst.reason, "rank 2 crashed") == 0 ? 0 : 3;
}

static void the_worst_finding_of_the_lowest_rank_counts_everywhere(void **state)
{
    (void)state;
    run_world(settle_mixed, false);
}

static int abort_and_begin(pkb_judge_world *world)
{
    if (world->rank == 1)
        pkb_judge_world_abort(world);
    if (pkb_judge_world_barrier(world, NULL) != PKB_OK || !pkb_judge_world_is_aborted(world))
        return 1;
    if (pkb_judge_world_begin(world, NULL) != PKB_OK)
        return 2;
    return pkb_judge_world_is_aborted(world) ? 3 : 0;
}

static void an_abort_reaches_all_and_ends_with_the_size(void **state)
{
    (void)state;
    run_world(abort_and_begin, false);
}

static void a_barrier_fails_when_the_evaluator_is_gone(void **state)
{
    (void)state;
    int pair[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
    const pkb_watch watch = {.control_fd = pair[0], .runner_fd = -1};
    pkb_judge_world world;
    pkb_error err = {0};
    assert_int_equal(pkb_judge_world_create(&world, 2, &watch, NULL), PKB_OK);
    close(pair[1]);
    assert_int_equal(pkb_judge_world_barrier(&world, &err), PKB_ERR_INTERRUPTED);
    assert_string_equal(err.message, "the evaluator is gone");
    pkb_judge_world_clear(&world);
    close(pair[0]);
}

static void a_timeout_tells_where_all_ranks_wait(void **state)
{
    (void)state;
    pkb_finding found[2], worst;
    for (uint32_t rank = 0; rank < 2; rank++) {
        pkb_finding_init(&found[rank], rank);
        snprintf(found[rank].waiting, sizeof found[rank].waiting, "rank %u waits in kernel k",
                 rank);
    }
    found[1].verdict = PKB_VERDICT_TIMEOUT;
    strcpy(found[1].reason, "rank 1: pkb_run did not end within 3 s");
    pkb_finding_worst(&worst, found, 2);
    assert_string_equal(worst.reason, "rank 1: pkb_run did not end within 3 s; rank 0 waits in "
                                      "kernel k; rank 1 waits in kernel k");
}

static void a_kill_on_any_rank_is_in_the_worst_finding(void **state)
{
    (void)state;
    pkb_finding found[3], worst;
    for (uint32_t rank = 0; rank < 3; rank++)
        pkb_finding_init(&found[rank], rank);
    pkb_finding_set(&found[0], PKB_VERDICT_WRONG_OUTPUT, "rank 0: wrong");
    pkb_finding_set(&found[2], PKB_VERDICT_CRASH, "rank 2: killed");
    found[2].was_killed = true;
    pkb_finding_worst(&worst, found, 3);
    assert_string_equal(worst.reason, "rank 0: wrong");
    assert_true(worst.was_killed);
    pkb_finding_worst(&worst, found, 2);
    assert_false(worst.was_killed);
}

static void a_finding_only_gets_worse(void **state)
{
    (void)state;
    pkb_finding found;
    pkb_finding_init(&found, 3);
    assert_true(pkb_finding_set(&found, PKB_VERDICT_CRASH, "a"));
    assert_false(pkb_finding_set(&found, PKB_VERDICT_TIMEOUT, "b"));
    assert_false(pkb_finding_set(&found, PKB_VERDICT_CRASH, "c"));
    assert_string_equal(found.reason, "a");
    assert_true(pkb_finding_set(&found, PKB_VERDICT_OUT_OF_BOUNDS, "d"));
    assert_int_equal(found.rank, 3);
}

static void a_place_is_written_as_a_multi_index(void **state)
{
    (void)state;
    const pkb_argument argument = {.name = "C", .shape_count = 3};
    const uint64_t shape[PKB_MAX_SHAPE] = {4, 5, 6};
    pkb_finding found;
    char text[64];
    pkb_finding_init(&found, 0);
    pkb_finding_place(&found, &argument, shape, 3 * 30 + 2 * 6 + 1);
    pkb_finding_place_text(&found, text, sizeof text);
    assert_string_equal(text, "C[3, 2, 1]");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(barriers_exchange_this_rounds_numbers),
        cmocka_unit_test(barriers_work_while_spinning),
        cmocka_unit_test(the_worst_finding_of_the_lowest_rank_counts_everywhere),
        cmocka_unit_test(an_abort_reaches_all_and_ends_with_the_size),
        cmocka_unit_test(a_barrier_fails_when_the_evaluator_is_gone),
        cmocka_unit_test(a_timeout_tells_where_all_ranks_wait),
        cmocka_unit_test(a_kill_on_any_rank_is_in_the_worst_finding),
        cmocka_unit_test(a_finding_only_gets_worse),
        cmocka_unit_test(a_place_is_written_as_a_multi_index),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
