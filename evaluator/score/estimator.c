/* SPDX-License-Identifier: Apache-2.0
 *
 * Estimates over subsets; see estimator.h.
 */
#include "evaluator/score/estimator.h"

#include <math.h>
#include <stdlib.h>

double pkb_estimate_pass(size_t n, size_t c, size_t k)
{
    double none = 1; /* the chance that none of the k is good */

    if (n < k || k == 0 || c > n)
        return NAN;
    if (n - c < k)
        return 1;
    for (size_t i = n - c + 1; i <= n; i++)
        none *= (double)(i - k) / (double)i;
    return 1 - none;
}

static int compare_descending(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;
    return (a < b) - (a > b);
}

/* The i-th largest of all n (from 1) is the largest of k with probability C(n-i, k-1) / C(n, k):
 * k/n for the first; each next one is (n-i-k+1) / (n-i) times as likely. */
double pkb_estimate_best(double *values, size_t count, size_t n, size_t k, double floor)
{
    double sum = 0, chance = (double)k / (double)n, left = 1;

    if (n < k || k == 0 || count > n)
        return NAN;
    qsort(values, count, sizeof *values, compare_descending);
    for (size_t i = 1; i <= count && values[i - 1] > floor && chance > 0; i++) {
        sum += chance * values[i - 1];
        left -= chance;
        chance *= n - i >= k ? (double)(n - i - k + 1) / (double)(n - i) : 0;
    }
    return sum + (left > 0 ? left * floor : 0);
}
