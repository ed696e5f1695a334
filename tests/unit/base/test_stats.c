/* SPDX-License-Identifier: Apache-2.0
 *
 * base/stats.c on made-up numbers.
 */
#include "base/stats.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void median_of_even_count_is_midpoint(void **state)
{
    (void)state;
    const double even[] = {4, 1, 3, 2}, odd[] = {9, 1, 5};
    assert_true(pkb_stats_median(even, 4) == 2.5);
    assert_true(pkb_stats_median(odd, 3) == 5);
    assert_true(even[0] == 4); /* the input stays as it was */
}

static void quantiles_interpolate_between_ranks(void **state)
{
    (void)state;
    const double values[] = {0, 10, 20, 30, 40};
    assert_true(pkb_stats_quantile(values, 5, 0) == 0);
    assert_true(pkb_stats_quantile(values, 5, 1) == 40);
    assert_true(fabs(pkb_stats_quantile(values, 5, 0.3) - 12) < 1e-12);
}

static void nothing_has_no_median(void **state)
{
    (void)state;
    assert_true(isnan(pkb_stats_median(NULL, 0)));
    assert_true(isnan(pkb_stats_bootstrap_median(NULL, 0, 100, 1).value));
}

static void equal_values_have_an_interval_of_no_width(void **state)
{
    (void)state;
    const double values[] = {2, 2, 2, 2};
    pkb_interval interval = pkb_stats_bootstrap_median(values, 4, 200, 7);
    assert_true(interval.value == 2 && interval.low == 2 && interval.high == 2);
}

static void interval_holds_the_median_and_repeats_with_its_seed(void **state)
{
    (void)state;
    double values[40];
    uint64_t random = 3;
    for (size_t i = 0; i < 40; i++)
        values[i] = (double)(pkb_random_next(&random) % 1000);
    pkb_interval one = pkb_stats_bootstrap_median(values, 40, 1000, 11);
    pkb_interval two = pkb_stats_bootstrap_median(values, 40, 1000, 11);
    assert_true(one.low <= one.value && one.value <= one.high && one.low < one.high);
    assert_true(one.low == two.low && one.high == two.high);
}

/* 95 % intervals must hold the true median about 95 % of the time. */
static void interval_covers_the_true_median(void **state)
{
    (void)state;
    enum { TRIALS = 400, COUNT = 25 };
    uint64_t random = 42;
    int covered = 0;
    for (int trial = 0; trial < TRIALS; trial++) {
        double values[COUNT];
        for (size_t i = 0; i < COUNT; i++)
            values[i] = (double)(pkb_random_next(&random) >> 11) * 0x1p-53;
        pkb_interval interval = pkb_stats_bootstrap_median(values, COUNT, 400, (uint64_t)trial);
        covered += interval.low <= 0.5 && 0.5 <= interval.high;
    }
    assert_in_range(covered, TRIALS * 90 / 100, TRIALS * 99 / 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(median_of_even_count_is_midpoint),
        cmocka_unit_test(quantiles_interpolate_between_ranks),
        cmocka_unit_test(nothing_has_no_median),
        cmocka_unit_test(equal_values_have_an_interval_of_no_width),
        cmocka_unit_test(interval_holds_the_median_and_repeats_with_its_seed),
        cmocka_unit_test(interval_covers_the_true_median),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
