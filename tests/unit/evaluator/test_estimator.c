/* SPDX-License-Identifier: Apache-2.0
 *
 * evaluator/score/estimator.c against counting by hand, and the intervals of scores by simulation.
 */
#include "evaluator/score/estimator.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/stats.h"

enum { MOST = 12 };

static bool is_close(double a, double b)
{
    return fabs(a - b) <= 1e-12 * fmax(1, fabs(b));
}

static size_t choose(size_t n, size_t k)
{
    size_t ways = 1;
    if (k > n)
        return 0;
    for (size_t i = 1; i <= k; i++)
        ways = ways * (n - k + i) / i;
    return ways;
}

static void known_values(void **state)
{
    (void)state;
    assert_true(is_close(pkb_estimate_pass(10, 3, 1), 0.3));
    assert_true(fabs(pkb_estimate_pass(10, 3, 5) - 0.916667) < 5e-7);
    assert_true(is_close(pkb_estimate_pass(200, 1, 100), 0.5));
    assert_true(pkb_estimate_pass(10, 0, 10) == 0);
    assert_true(pkb_estimate_pass(10, 10, 1) == 1);
}

static void fewer_attempts_than_k_say_nothing(void **state)
{
    (void)state;
    assert_true(isnan(pkb_estimate_pass(3, 0, 5)));
    assert_true(isnan(pkb_estimate_pass(3, 3, 5)));
    assert_true(isnan(pkb_estimate_pass(0, 0, 1)));
    assert_true(isnan(pkb_estimate_pass(5, 6, 1)));
    assert_true(isnan(pkb_estimate_pass(5, 2, 0)));
    assert_true(isnan(pkb_estimate_best(NULL, 0, 2, 3, 0)));
    assert_true(isnan(pkb_estimate_best(NULL, 0, 0, 0, 0)));
}

static void pass_is_a_fraction_of_the_subsets(void **state)
{
    (void)state;
    for (size_t n = 1; n <= MOST; n++)
        for (size_t c = 0; c <= n; c++)
            for (size_t k = 1; k <= n; k++) {
                const size_t all = choose(n, k), good = all - choose(n - c, k);
                assert_true(is_close(pkb_estimate_pass(n, c, k), (double)good / (double)all));
            }
}

static void pass_grows_with_k_and_with_c(void **state)
{
    (void)state;
    for (size_t n = 1; n <= 40; n++)
        for (size_t c = 0; c <= n; c++)
            for (size_t k = 1; k <= n; k++) {
                const double one = pkb_estimate_pass(n, c, k);
                assert_true(one >= 0 && one <= 1);
                assert_true(k == n || pkb_estimate_pass(n, c, k + 1) >= one);
                assert_true(c == n || pkb_estimate_pass(n, c + 1, k) >= one);
            }
}

/* The best of each subset of k of n attempts, added up. */
static double best_by_counting(const double *values, size_t count, size_t n, size_t k, double floor)
{
    double sum = 0;
    size_t subsets = 0;
    for (unsigned mask = 0; mask < 1u << n; mask++) {
        double best = floor;
        if ((size_t)__builtin_popcount(mask) != k)
            continue;
        for (size_t i = 0; i < count; i++)
            if (mask >> i & 1 && values[i] > best)
                best = values[i];
        sum += best;
        subsets++;
    }
    return sum / (double)subsets;
}

static void best_is_the_mean_over_the_subsets(void **state)
{
    (void)state;
    uint64_t random = 8;
    for (size_t n = 1; n <= MOST; n++)
        for (size_t count = 0; count <= n; count++)
            for (size_t k = 1; k <= n; k++) {
                double values[MOST];
                for (size_t i = 0; i < count; i++) /* ties, and values below the floor */
                    values[i] = (double)(pkb_random_next(&random) % 9) - 2;
                const double wanted = best_by_counting(values, count, n, k, 0);
                assert_true(is_close(pkb_estimate_best(values, count, n, k, 0), wanted));
            }
}

/* ---- intervals ---- */

enum { PROBLEMS = 87, RUNS = 1000, ROUNDS = 1000 };

static double uniform(uint64_t *random)
{
    return (double)(pkb_random_next(random) >> 11) * 0x1p-53;
}

/* Problems differ: the chance to solve one is the square of a uniform number. The mean of
 * 1 - (1 - u^2)^k over u by the midpoint rule. */
static double true_pass(size_t k)
{
    enum { STEPS = 20000 };
    double sum = 0;
    for (size_t i = 0; i < STEPS; i++) {
        const double u = ((double)i + 0.5) / STEPS;
        sum += 1 - pow(1 - u * u, (double)k);
    }
    return sum / STEPS;
}

/* A run of n attempts at each of 87 problems that are drawn for it. */
static pkb_interval simulate(size_t n, size_t k, uint64_t *random)
{
    double passes[PROBLEMS], ones[PROBLEMS];
    const pkb_ratios table = {passes, ones, PROBLEMS, 1};
    pkb_interval interval;

    for (size_t i = 0; i < PROBLEMS; i++) {
        const double u = uniform(random);
        size_t c = 0;
        for (size_t sample = 0; sample < n; sample++)
            c += uniform(random) < u * u;
        passes[i] = pkb_estimate_pass(n, c, k);
        ones[i] = 1;
    }
    assert_true(pkb_stats_bootstrap_ratios(&interval, &table, ROUNDS, pkb_random_next(random)));
    return interval;
}

static void intervals_cover_other_problems_of_this_kind(void **state)
{
    (void)state;
    static const struct {
        size_t n, k;
    } cases[] = {{1, 1}, {3, 3}, {10, 5}, {10, 10}};
    uint64_t random = 2026;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const double truth = true_pass(cases[i].k);
        int covered = 0;
        for (int run = 0; run < RUNS; run++) {
            const pkb_interval interval = simulate(cases[i].n, cases[i].k, &random);
            covered += interval.low <= truth && truth <= interval.high;
        }
        print_message("n = %zu, k = %zu: %d of %d intervals cover\n", cases[i].n, cases[i].k,
                      covered, RUNS);
        assert_in_range(covered, RUNS * 92 / 100, RUNS * 98 / 100);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_values),
        cmocka_unit_test(fewer_attempts_than_k_say_nothing),
        cmocka_unit_test(pass_is_a_fraction_of_the_subsets),
        cmocka_unit_test(pass_grows_with_k_and_with_c),
        cmocka_unit_test(best_is_the_mean_over_the_subsets),
        cmocka_unit_test(intervals_cover_other_problems_of_this_kind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
