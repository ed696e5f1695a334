/* SPDX-License-Identifier: Apache-2.0
 *
 * Statistics of small samples; pure functions.
 */
#ifndef PKB_BASE_STATS_H
#define PKB_BASE_STATS_H

#include <stddef.h>
#include <stdint.h>

/* Sorts a copy; NaN for count 0. The median of an even count is the midpoint. */
double pkb_stats_median(const double *values, size_t count);
double pkb_stats_quantile(const double *values, size_t count,
                          double fraction); /* linear between ranks */

typedef struct pkb_interval {
    double value, low, high;
} pkb_interval;

/* Median with a 95 % percentile bootstrap interval over `count` values, `rounds` resamples drawn
 * from a generator seeded by `seed`. All three are NaN for count 0. */
pkb_interval pkb_stats_bootstrap_median(const double *values, size_t count, size_t rounds,
                                        uint64_t seed);

/* splitmix64: the next number of a small, seeded generator. */
uint64_t pkb_random_next(uint64_t *state);

#endif
