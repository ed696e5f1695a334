/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/judge/timing.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/stats.h"
#include "harness/judge/quiet.h"
#include "harness/judge/report.h"

static void fill(pkb_timing *timing)
{
    pkb_batch_pair *pairs = timing->pairs;
    timing->pair_count = 3;
    timing->reference_calls = timing->attempt_calls = 4;
    for (uint32_t i = 0; i < 3; i++)
        pairs[i] = (pkb_batch_pair){.reference_ns = {2000 + i, 4000}, .attempt_ns = {1000, 900}};
    pairs[2].reference_ns[1] = 40000; /* one disturbed batch */
}

static void a_batch_lasts_as_long_as_its_slowest_rank(void **state)
{
    (void)state;
    const uint64_t rank_ns[] = {3, 9, 4};
    assert_int_equal(pkb_timing_slowest_ns(rank_ns, 3), 9);
    assert_int_equal(pkb_timing_slowest_ns(rank_ns, 1), 3);
}

static void a_batch_is_filled_with_calls(void **state)
{
    (void)state;
    const uint64_t batch_ns = 50000000;
    assert_int_equal(pkb_timing_wanted_calls(50, 25000000 + 200000, batch_ns, 512), 101);
    assert_int_equal(pkb_timing_wanted_calls(4, 440000, batch_ns, 5000), 834); /* 60 us a call */
    assert_int_equal(pkb_timing_wanted_calls(4, 440000, batch_ns, 512), 512);
    assert_int_equal(pkb_timing_wanted_calls(4, 100000, batch_ns, 5000), 2001);
    assert_int_equal(pkb_timing_wanted_calls(4, 0, batch_ns, 512), 512);
    assert_int_equal(pkb_timing_wanted_calls(4, 120000000, batch_ns, 512), 2); /* 60 ms will do */
    assert_int_equal(pkb_timing_wanted_calls(4, 450000000, batch_ns, 512), 1);
    assert_true(pkb_timing_is_long_enough(101, 101) && pkb_timing_is_long_enough(101, 80));
    assert_true(pkb_timing_is_long_enough(80, 90));
    assert_false(pkb_timing_is_long_enough(80, 91));
    assert_false(pkb_timing_is_long_enough(4, 5));
    assert_false(pkb_timing_is_far_too_short(100, 200) || pkb_timing_is_far_too_short(1, 3));
    assert_true(pkb_timing_is_far_too_short(100, 202) && pkb_timing_is_far_too_short(1, 4));
}

static void the_speedup_is_the_median_ratio_of_pairs(void **state)
{
    (void)state;
    pkb_timing timing = {0};
    fill(&timing);
    pkb_interval speedup = pkb_timing_speedup(&timing, 2);
    assert_true(speedup.value == 4.0);
    assert_true(speedup.low == 4.0 && speedup.high <= 40.0);
}

static void a_narrow_interval_is_stable(void **state)
{
    (void)state;
    pkb_timing timing = {.pair_count = 9, .reference_calls = 1, .attempt_calls = 1};
    for (uint32_t i = 0; i < timing.pair_count; i++)
        timing.pairs[i] =
            (pkb_batch_pair){.reference_ns = {200000 + i % 3 * 1000}, .attempt_ns = {100000}};
    assert_true(pkb_timing_is_stable(&timing, 1));
    for (uint32_t i = 0; i < timing.pair_count; i++)
        timing.pairs[i].reference_ns[0] += i % 3 * 20000;
    assert_false(pkb_timing_is_stable(&timing, 1));
}

/* Pairs of those ratios, in that order. */
static pkb_timing pairs_of(const double *ratios, uint32_t count)
{
    pkb_timing timing = {.pair_count = count, .reference_calls = 1, .attempt_calls = 1};
    for (uint32_t i = 0; i < count; i++)
        timing.pairs[i] = (pkb_batch_pair){.reference_ns = {(uint64_t)(ratios[i] * 1e6 + 0.5)},
                                           .attempt_ns = {1000000}};
    return timing;
}

static void pairs_that_are_alike_say_less(void **state)
{
    (void)state;
    const double mixed[] = {2, 3, 2, 3, 2, 3, 2, 3, 2, 3, 2, 3};
    const double drifting[] = {2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3};
    const pkb_timing one = pairs_of(mixed, 12), two = pairs_of(drifting, 12);
    const pkb_interval narrow = pkb_timing_speedup(&one, 1), wide = pkb_timing_speedup(&two, 1);
    assert_true(narrow.value == 2.5 && narrow.low == 2 && narrow.high == 3);
    assert_true(wide.value == 2.5); /* and thrice as wide, the most there is */
    assert_true(fabs(wide.low - 2.5 * pow(0.8, 3)) < 1e-9);
    assert_true(fabs(wide.high - 2.5 * pow(1.2, 3)) < 1e-9);
    const pkb_timing few = pairs_of(drifting + 4, 5); /* too few to tell */
    assert_true(pkb_timing_speedup(&few, 1).low == 2);
}

/* About normal, of variance 1. */
static double draw_normal(uint64_t *random)
{
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += (double)(pkb_random_next(random) >> 11) * 0x1p-53;
    return sum;
}

/* How many of 200 intervals hold the truth where a pair is as far off as the last one times
 * `alike`, and some more. */
static int count_covered(double alike)
{
    enum { TRIALS = 200, COUNT = 12 };
    uint64_t random = 5;
    int covered = 0;

    for (int trial = 0; trial < TRIALS; trial++) {
        double ratios[COUNT], off = draw_normal(&random);
        for (int i = 0; i < COUNT; i++) {
            ratios[i] = exp(0.1 * off);
            off = alike * off + sqrt(1 - alike * alike) * draw_normal(&random);
        }
        const pkb_timing timing = pairs_of(ratios, COUNT);
        const pkb_interval speedup = pkb_timing_speedup(&timing, 1);
        covered += speedup.low <= 1 && 1 <= speedup.high;
    }
    return covered;
}

/* Drawn one by one, pairs that are alike would give 140 of 200. */
static void intervals_hold_the_truth(void **state)
{
    (void)state;
    assert_in_range(count_covered(0), 176, 198);
    assert_in_range(count_covered(0.6), 164, 198);
}

static void times_are_of_one_call(void **state)
{
    (void)state;
    pkb_timing timing = {0};
    fill(&timing);
    assert_true(pkb_timing_attempt_us(&timing, 2) == 0.25);
    assert_true(pkb_timing_reference_us(&timing, 2) == 1.0);
    timing.reference_calls = 1; /* each side has a number of its own */
    assert_true(pkb_timing_reference_us(&timing, 2) == 4.0);
    assert_true(pkb_timing_speedup(&timing, 2).value == 16.0);
}

static void what_takes_longer_than_a_switch_explains_is_heard(void **state)
{
    (void)state;
    assert_false(pkb_quiet_is_disturbed(3000000, 3000000));
    assert_false(pkb_quiet_is_disturbed(3200000, 3000000)); /* a switch between contexts */
    assert_false(pkb_quiet_is_disturbed(4150000, 3000000));
    assert_true(pkb_quiet_is_disturbed(4150001, 3000000));
    assert_true(pkb_quiet_is_disturbed(6810000, 3000000)); /* beside a spinning kernel */
}

/* ---- the verdict that carries them ---- */

static void a_record_holds_what_was_measured_and_nothing_else(void **state)
{
    (void)state;
    static pkb_plan_size size = {.name = "tiny", .class_name = "tiny"};
    static pkb_size_result results[2];
    pkb_finding_init(&results[0].finding, 0);
    results[0].size = results[1].size = &size;
    fill(&results[0].timing);
    pkb_finding_init(&results[1].finding, 1);
    pkb_finding_set(&results[1].finding, PKB_VERDICT_WRONG_OUTPUT, "rank 1: wrong");
    strcpy(results[1].finding.expected, "9007199254740993");
    strcpy(results[1].finding.got, "nan");
    results[0].cost_ns[PKB_COST_TIME] = 1500000000;
    results[0].cost_ns[PKB_COST_CHECK] = 250000000;
    results[1].cost_ns[PKB_COST_CHECK] = 500000000;

    cJSON *event = pkb_report_verdict(results, 2, 2);
    char *line = pkb_json_line(event);
    assert_non_null(strstr(line, "\"verdict\":\"WRONG_OUTPUT\",\"reason\":\"rank 1: wrong\""));
    assert_non_null(strstr(line, "\"expected\":9007199254740993,\"got\":\"nan\""));
    assert_non_null(strstr(line, "\"speedup\":{\"eager\":{\"value\":4,"));
    assert_non_null(strstr(line, "\"cost_s\":{\"check\":0.25,\"time\":1.5}")); /* of a size */
    assert_non_null(strstr(line, "\"cost_s\":{\"check\":0.75,\"time\":1.5}")); /* of both */
    assert_null(strstr(line, "\"signal\""));
    assert_null(strstr(line, "null"));
    const cJSON *sizes = cJSON_GetObjectItem(event, "sizes");
    assert_null(cJSON_GetObjectItem(cJSON_GetArrayItem(sizes, 1), "speedup"));
    assert_null(cJSON_GetObjectItem(cJSON_GetArrayItem(sizes, 0), "where"));
    assert_null(cJSON_GetObjectItem(event, "killed"));
    cJSON_free(line);
    cJSON_Delete(event);
}

static void a_kill_at_any_size_is_told(void **state)
{
    (void)state;
    static pkb_plan_size size = {.name = "tiny", .class_name = "tiny"};
    static pkb_size_result results[2];
    for (uint32_t i = 0; i < 2; i++) {
        pkb_finding_init(&results[i].finding, i);
        results[i].size = &size;
    }
    pkb_finding_set(&results[0].finding, PKB_VERDICT_OUT_OF_BOUNDS, "rank 0: beyond");
    pkb_finding_set(&results[1].finding, PKB_VERDICT_CRASH, "rank 1: killed");
    results[1].finding.was_killed = true;

    cJSON *event = pkb_report_verdict(results, 2, 2);
    assert_string_equal(pkb_json_string_or(event, "verdict", ""), "OUT_OF_BOUNDS");
    assert_true(cJSON_IsTrue(cJSON_GetObjectItem(event, "killed")));
    cJSON_Delete(event);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_batch_lasts_as_long_as_its_slowest_rank),
        cmocka_unit_test(a_batch_is_filled_with_calls),
        cmocka_unit_test(the_speedup_is_the_median_ratio_of_pairs),
        cmocka_unit_test(a_narrow_interval_is_stable),
        cmocka_unit_test(pairs_that_are_alike_say_less),
        cmocka_unit_test(intervals_hold_the_truth),
        cmocka_unit_test(times_are_of_one_call),
        cmocka_unit_test(what_takes_longer_than_a_switch_explains_is_heard),
        cmocka_unit_test(a_record_holds_what_was_measured_and_nothing_else),
        cmocka_unit_test(a_kill_at_any_size_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
