/* SPDX-License-Identifier: Apache-2.0
 *
 * Statistics of small samples; pure functions.
 */
#ifndef PKB_BASE_STATS_H
#define PKB_BASE_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Sorts a copy; NaN for count 0. The median of an even count is the midpoint. */
double pkb_stats_median(const double *values, size_t count);
double pkb_stats_quantile(const double *values, size_t count,
                          double fraction); /* linear between ranks */

/* How alike neighbours are: correlation of each value with the next one. 0 where all are equal or
 * there is only one. */
double pkb_stats_autocorrelation(const double *values, size_t count);

typedef struct pkb_interval {
    double value, low, high;
} pkb_interval;

/* Median with a 95 % percentile bootstrap interval over `count` values, `rounds` resamples drawn
 * from a generator seeded by `seed`. All three are NaN for count 0. */
pkb_interval pkb_stats_bootstrap_median(const double *values, size_t count, size_t rounds,
                                        uint64_t seed);

/* A table of `rows` x `columns` fractions, row by row: column c of a sample of rows is worth the
 * sum of its numerators over the sum of its denominators (denominators of 1: a mean; a row of 0 and
 * 0 does not count). */
typedef struct pkb_ratios {
    const double *numerators, *denominators;
    size_t rows, columns;
} pkb_ratios;

/* Each column's value with its 95 % percentile bootstrap interval over rows: `rounds` resamples,
 * each the same one for all columns. NaN where the denominators add up to 0; false: no memory. */
bool pkb_stats_bootstrap_ratios(pkb_interval *out, const pkb_ratios *table, size_t rounds,
                                uint64_t seed);

/* Two-sided p-value of a paired permutation test: how often the sum of the differences is at least
 * as large in size as it is when each one's sign is drawn anew. All signs are tried where that
 * takes no more than `rounds`, else `rounds` are drawn and (1 + hits) / (1 + rounds) is returned.
 */
double pkb_stats_sign_flip(const double *differences, size_t count, size_t rounds, uint64_t seed);

/* splitmix64: the next number of a small, seeded generator. */
uint64_t pkb_random_next(uint64_t *state);

#endif
