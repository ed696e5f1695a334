/* SPDX-License-Identifier: Apache-2.0
 *
 * Statistics of small samples; see stats.h.
 */
#include "base/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int compare_doubles(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static double quantile_of_sorted(const double *sorted, size_t count, double fraction)
{
    double position = fraction * (double)(count - 1);
    size_t below = (size_t)position;
    if (below + 1 >= count)
        return sorted[count - 1];
    double share = position - (double)below;
    return sorted[below] + share * (sorted[below + 1] - sorted[below]);
}

double pkb_stats_quantile(const double *values, size_t count, double fraction)
{
    if (count == 0)
        return NAN;
    double *sorted = malloc(count * sizeof *sorted);
    if (sorted == NULL)
        return NAN;
    memcpy(sorted, values, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, compare_doubles);
    double result = quantile_of_sorted(sorted, count, fraction);
    free(sorted);
    return result;
}

double pkb_stats_median(const double *values, size_t count)
{
    return pkb_stats_quantile(values, count, 0.5);
}

uint64_t pkb_random_next(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

pkb_interval pkb_stats_bootstrap_median(const double *values, size_t count, size_t rounds,
                                        uint64_t seed)
{
    pkb_interval interval = {NAN, NAN, NAN};
    double *medians = NULL, *resample = NULL;

    if (count == 0 || rounds == 0)
        return interval;
    medians = malloc(rounds * sizeof *medians);
    resample = malloc(count * sizeof *resample);
    if (medians == NULL || resample == NULL)
        goto cleanup;

    for (size_t round = 0; round < rounds; round++) {
        for (size_t i = 0; i < count; i++)
            resample[i] = values[pkb_random_next(&seed) % count];
        qsort(resample, count, sizeof *resample, compare_doubles);
        medians[round] = quantile_of_sorted(resample, count, 0.5);
    }
    qsort(medians, rounds, sizeof *medians, compare_doubles);
    interval.value = pkb_stats_median(values, count);
    interval.low = quantile_of_sorted(medians, rounds, 0.025);
    interval.high = quantile_of_sorted(medians, rounds, 0.975);
cleanup:
    free(medians);
    free(resample);
    return interval;
}
