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

static void neighbours_are_alike_or_not(void **state)
{
    (void)state;
    const double rising[] = {1, 2, 3, 4}, alternating[] = {1, -1, 1, -1}, equal[] = {5, 5, 5};
    assert_true(pkb_stats_autocorrelation(rising, 4) == 0.25);
    assert_true(pkb_stats_autocorrelation(alternating, 4) == -0.75);
    assert_true(pkb_stats_autocorrelation(equal, 3) == 0);
    assert_true(pkb_stats_autocorrelation(rising, 1) == 0);
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

static void ratios_are_sums_over_sums_of_the_rows_that_count(void **state)
{
    (void)state;
    /* a mean over rows 0 and 1; a ratio over all; nothing at all */
    const double up[] = {1, 10, 0, 0, 20, 0, 0, 30, 0}, down[] = {1, 2, 0, 1, 2, 0, 0, 1, 0};
    const pkb_ratios table = {up, down, 3, 3};
    pkb_interval one[3], two[3];
    assert_true(pkb_stats_bootstrap_ratios(one, &table, 500, 5));
    assert_true(pkb_stats_bootstrap_ratios(two, &table, 500, 5));
    assert_true(one[0].value == 0.5 && one[0].low == 0 && one[0].high == 1);
    assert_true(one[1].value == 12 && one[1].low == 5 && one[1].high == 30);
    assert_true(isnan(one[2].value) && isnan(one[2].low) && isnan(one[2].high));
    assert_true(one[1].low == two[1].low && one[1].high == two[1].high);
}

static void no_rows_have_no_ratio(void **state)
{
    (void)state;
    const pkb_ratios table = {NULL, NULL, 0, 1};
    pkb_interval interval = {0};
    assert_true(pkb_stats_bootstrap_ratios(&interval, &table, 10, 1));
    assert_true(isnan(interval.value) && isnan(interval.low));
}

static void flipping_few_signs_is_exact(void **state)
{
    (void)state;
    const double same[] = {1, 1, 1, 1, 1}, none[] = {0, 0, 0}, tenths[] = {0.1, 0.2, 0.3, -0.6};
    assert_true(pkb_stats_sign_flip(same, 5, 10000, 1) == 2.0 / 32);
    assert_true(pkb_stats_sign_flip(none, 3, 10000, 1) == 1);
    assert_true(pkb_stats_sign_flip(tenths, 4, 10000, 1) == 1);
    assert_true(pkb_stats_sign_flip(NULL, 0, 10000, 1) == 1);
}

/* 12 against 4 of 16: the binomial test says 0.0768. */
static void flipping_many_signs_agrees_with_the_binomial_test(void **state)
{
    (void)state;
    double differences[80] = {0};
    for (size_t i = 0; i < 16; i++)
        differences[5 * i] = i < 12 ? 1 : -1;
    const double p = pkb_stats_sign_flip(differences, 80, 20000, 9);
    assert_true(fabs(p - 0.0768) < 0.01);
    assert_true(p == pkb_stats_sign_flip(differences, 80, 20000, 9));
}

/* Without a difference a p-value below 0.05 comes up no more often than that. */
static void flipping_signs_of_noise_finds_nothing(void **state)
{
    (void)state;
    enum { TRIALS = 400, COUNT = 30 };
    uint64_t random = 17;
    int found = 0;
    for (int trial = 0; trial < TRIALS; trial++) {
        double differences[COUNT];
        for (size_t i = 0; i < COUNT; i++)
            differences[i] = (double)(pkb_random_next(&random) >> 11) * 0x1p-52 - 1;
        found += pkb_stats_sign_flip(differences, COUNT, 400, (uint64_t)trial) < 0.05;
    }
    assert_in_range(found, 1, TRIALS * 8 / 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(median_of_even_count_is_midpoint),
        cmocka_unit_test(quantiles_interpolate_between_ranks),
        cmocka_unit_test(nothing_has_no_median),
        cmocka_unit_test(neighbours_are_alike_or_not),
        cmocka_unit_test(equal_values_have_an_interval_of_no_width),
        cmocka_unit_test(interval_holds_the_median_and_repeats_with_its_seed),
        cmocka_unit_test(interval_covers_the_true_median),
        cmocka_unit_test(ratios_are_sums_over_sums_of_the_rows_that_count),
        cmocka_unit_test(no_rows_have_no_ratio),
        cmocka_unit_test(flipping_few_signs_is_exact),
        cmocka_unit_test(flipping_many_signs_agrees_with_the_binomial_test),
        cmocka_unit_test(flipping_signs_of_noise_finds_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
