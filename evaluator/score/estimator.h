/* SPDX-License-Identifier: Apache-2.0
 *
 * What n attempts at one problem say about k of them; pure functions.
 */
#ifndef PKB_EVALUATOR_ESTIMATOR_H
#define PKB_EVALUATOR_ESTIMATOR_H

#include <stddef.h>

/* The chance that k of the n attempts, c of them good, hold a good one: 1 - C(n-c, k) / C(n, k),
 * the unbiased estimate of pass@k. NaN where it is undefined: n < k, k = 0 or c > n. */
double pkb_estimate_pass(size_t n, size_t c, size_t k);

/* The mean, over all ways to take k of the n attempts, of the largest value among those taken;
 * the n - count attempts without a value are worth `floor`, and so are values below it. Sorts
 * `values`. NaN for n < k, k = 0 or count > n. */
double pkb_estimate_best(double *values, size_t count, size_t n, size_t k, double floor);

#endif
