/* SPDX-License-Identifier: Apache-2.0
 *
 * Tests of evaluator/lane/lanes.c with lanes that know no problem, so that they refuse each job.
 */
#include "evaluator/lane/lanes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/unit/evaluator/processes.h"

static pkb_setting setting = {.options = {.device = "cpu", .world = 2, .sizes = "tiny"}};
static pkb_problem problem = {.full_name = "001_allreduce"};

static pkb_evaluation an_evaluation(void)
{
    return (pkb_evaluation){.setting = &setting,
                            .problem = &problem,
                            .file = "a.cu",
                            .attempt = {.source = (char[]){"int a;"}, .bytes = strlen("int a;")}};
}

static pkb_lanes open_lanes(void)
{
    const pkb_room gpu_room = {.has_gpus = true}, cpu_room = {.place_count = 1};
    pkb_lanes lanes;

    assert_int_equal(pkb_lanes_open(&lanes, &gpu_room, &cpu_room, NULL), PKB_OK);
    return lanes;
}

static void expect_refusal(pkb_lanes *lanes, const pkb_evaluation *evaluation)
{
    const uint64_t deadline_ns = pkb_clock_now_ns() + PKB_TEST_HUNG_NS;
    pkb_lanes_result result = {0};

    while (result.evaluation == NULL) {
        assert_int_not_equal(pkb_clock_left_ns(deadline_ns), 0);
        assert_int_equal(pkb_lanes_take(lanes, &result, NULL), PKB_OK);
        pkb_clock_sleep_ns(PKB_NS_PER_MS);
    }
    assert_ptr_equal(result.evaluation, evaluation);
    assert_true(result.is_refused);
    assert_non_null(strstr(result.failure.message, "001_allreduce"));
}

static void a_busy_lane_gets_no_second_job(void **state)
{
    pkb_evaluation evaluation = an_evaluation(), other = an_evaluation();
    pkb_lanes lanes = open_lanes();
    bool is_given = false;
    (void)state;

    assert_int_equal(pkb_lanes_give(&lanes, &evaluation, &is_given, NULL), PKB_OK);
    assert_true(is_given);
    assert_int_equal(pkb_lanes_give(&lanes, &other, &is_given, NULL), PKB_OK);
    assert_false(is_given);
    expect_refusal(&lanes, &evaluation);
    assert_int_equal(pkb_lanes_give(&lanes, &other, &is_given, NULL), PKB_OK);
    assert_true(is_given);
    assert_int_equal(lanes.count, 1);
    expect_refusal(&lanes, &other);
    pkb_lanes_close(&lanes);
}

/* Descriptors suffice for a job and not for another process, which is noticed when the old one has
 * been ended. */
static void a_lane_that_cannot_be_replaced_gives_its_place_back(void **state)
{
    pkb_evaluation evaluation = an_evaluation();
    struct rlimit usual, few;
    bool is_given = false;
    (void)state;

    const int hole = dup(STDIN_FILENO); /* below those of the lane */
    pkb_lanes lanes = open_lanes();
    assert_int_equal(pkb_lanes_give(&lanes, &evaluation, &is_given, NULL), PKB_OK);
    expect_refusal(&lanes, &evaluation);
    kill(lanes.lanes[0]->process.child.pid, SIGKILL);
    assert_true(wait_until_gone(lanes.lanes[0]->process.child.pid));
    close(hole);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &usual), 0);
    few = (struct rlimit){(rlim_t)hole + 1, usual.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    const pkb_code rc = pkb_lanes_give(&lanes, &evaluation, &is_given, NULL);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &usual), 0);
    assert_int_not_equal(rc, PKB_OK);
    assert_false(is_given);
    assert_int_equal(lanes.count, 0);
    assert_int_equal(pkb_lanes_give(&lanes, &evaluation, &is_given, NULL), PKB_OK);
    assert_true(is_given);
    expect_refusal(&lanes, &evaluation);
    pkb_lanes_close(&lanes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_busy_lane_gets_no_second_job),
        cmocka_unit_test(a_lane_that_cannot_be_replaced_gives_its_place_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
