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
#include "base/json.h"
#include "tests/unit/evaluator/processes.h"

static pkb_setting setting = {.options = {.device = "cpu", .world = 2, .sizes = "tiny"}};
static char source[] = "int a;";
static pkb_problem problem = {.full_name = "001_allreduce"};

static pkb_evaluation an_evaluation(void)
{
    return (pkb_evaluation){.setting = &setting,
                            .problem = &problem,
                            .file = "a.cu",
                            .attempt = {.source = source, .bytes = sizeof source - 1}};
}

static pkb_lanes open_lanes(void)
{
    const pkb_room gpu_room = {.has_gpus = true}, cpu_room = {.place_count = 1};
    pkb_lanes lanes;

    assert_int_equal(pkb_lanes_open(&lanes, &gpu_room, &cpu_room, NULL), PKB_OK);
    return lanes;
}

static pkb_lanes_result take_one(pkb_lanes *lanes)
{
    const uint64_t deadline_ns = pkb_clock_now_ns() + PKB_TEST_HUNG_NS;
    pkb_lanes_result result = {0};

    while (result.evaluation == NULL) {
        assert_int_not_equal(pkb_clock_left_ns(deadline_ns), 0);
        assert_int_equal(pkb_lanes_take(lanes, &result, NULL), PKB_OK);
        pkb_clock_sleep_ns(PKB_NS_PER_MS);
    }
    return result;
}

static void expect_refusal(pkb_lanes *lanes, const pkb_evaluation *evaluation)
{
    const pkb_lanes_result result = take_one(lanes);

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

static void count_note(void *context, const char *text)
{
    assert_non_null(strstr(text, "Too many open files; it is tried again"));
    ++*(int *)context;
}

/* A lane whose process was killed while it was idle, and nothing to start another one with. */
typedef struct scarcity {
    pkb_lanes lanes;
    pkb_evaluation evaluation;
    struct rlimit usual;
    int notes;
} scarcity;

/* Descriptors suffice for a job and not for a process. */
static void begin(scarcity *all)
{
    bool is_given = false;
    const int hole = dup(STDIN_FILENO); /* below those of the lane */

    *all = (scarcity){.evaluation = an_evaluation(), .lanes = open_lanes()};
    all->lanes.note = count_note;
    all->lanes.context = &all->notes;
    all->lanes.limits.pause_ns = PKB_NS_PER_MS;
    assert_int_equal(pkb_lanes_give(&all->lanes, &all->evaluation, &is_given, NULL), PKB_OK);
    expect_refusal(&all->lanes, &all->evaluation);
    kill(all->lanes.lanes[0]->process.child.pid, SIGKILL);
    assert_true(wait_until_gone(all->lanes.lanes[0]->process.child.pid));
    close(hole);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &all->usual), 0);
    const struct rlimit few = {(rlim_t)hole + 1, all->usual.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    is_given = false;
    assert_int_equal(pkb_lanes_give(&all->lanes, &all->evaluation, &is_given, NULL), PKB_OK);
    assert_true(is_given);
}

static void end(scarcity *all)
{
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &all->usual), 0);
}

static void a_process_that_cannot_be_started_is_waited_for(void **state)
{
    scarcity all;
    (void)state;

    begin(&all);
    end(&all);
    expect_refusal(&all.lanes, &all.evaluation);
    assert_int_equal(all.lanes.count, 1);
    assert_int_equal(all.notes, 1);
    pkb_lanes_close(&all.lanes);
}

static void one_that_can_never_be_started_costs_one_attempt(void **state)
{
    scarcity all;
    bool is_given = false;
    (void)state;

    begin(&all);
    const pkb_lanes_result result = take_one(&all.lanes);
    end(&all);
    assert_ptr_equal(result.evaluation, &all.evaluation);
    assert_int_equal(result.failure.code, PKB_OK);
    assert_true(pkb_record_is_pending(all.evaluation.record));
    assert_non_null(strstr(pkb_json_string_or(all.evaluation.record, "reason", ""),
                           "cannot be started: cannot make a socket pair: Too many open files"));
    assert_int_equal(all.lanes.count, 0);
    assert_int_equal(all.notes, 1);
    cJSON_Delete(all.evaluation.record);
    assert_int_equal(pkb_lanes_give(&all.lanes, &all.evaluation, &is_given, NULL), PKB_OK);
    assert_true(is_given);
    expect_refusal(&all.lanes, &all.evaluation);
    pkb_lanes_close(&all.lanes);
}

static void a_stopped_process_is_replaced(void **state)
{
    pkb_evaluation evaluation = an_evaluation();
    pkb_lanes lanes = open_lanes();
    pkb_lanes_result result;
    bool is_given = false;
    (void)state;

    assert_int_equal(pkb_lanes_give(&lanes, &evaluation, &is_given, NULL), PKB_OK);
    expect_refusal(&lanes, &evaluation);
    pkb_lane *lane = lanes.lanes[0];
    const uint64_t usual_ns = lane->limits.silent_ns;
    const pid_t pid = lane->process.child.pid;
    kill(pid, SIGSTOP);
    assert_int_equal(pkb_lanes_give(&lanes, &evaluation, &is_given, NULL), PKB_OK);
    assert_true(is_given);
    lane->limits.silent_ns = PKB_NS_PER_MS;
    while (lane->process.child.pid == pid) {
        assert_int_equal(pkb_lanes_take(&lanes, &result, NULL), PKB_OK);
        assert_null(result.evaluation);
        pkb_clock_sleep_ns(PKB_NS_PER_MS);
    }
    lane->limits.silent_ns = usual_ns;
    expect_refusal(&lanes, &evaluation);
    assert_int_equal(state_of(pid), 0);
    pkb_lanes_close(&lanes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_busy_lane_gets_no_second_job),
        cmocka_unit_test(a_process_that_cannot_be_started_is_waited_for),
        cmocka_unit_test(one_that_can_never_be_started_costs_one_attempt),
        cmocka_unit_test(a_stopped_process_is_replaced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
