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

double pkb_stats_autocorrelation(const double *values, size_t count)
{
    double mean = 0, square = 0, product = 0;

    for (size_t i = 0; i < count; i++)
        mean += values[i] / (double)count;
    for (size_t i = 0; i < count; i++) {
        square += (values[i] - mean) * (values[i] - mean);
        product += i + 1 < count ? (values[i] - mean) * (values[i + 1] - mean) : 0;
    }
    return square > 0 ? product / square : 0;
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

/* ---- ratios over rows ---- */

static void add_row(double *sums, const pkb_ratios *table, size_t row)
{
    const size_t columns = table->columns;
    const double *up = table->numerators + row * columns;
    const double *down = table->denominators + row * columns;

    for (size_t c = 0; c < columns; c++) {
        sums[c] += up[c];
        sums[columns + c] += down[c];
    }
}

static double ratio_of(const double *sums, size_t columns, size_t column)
{
    const double below = sums[columns + column];
    return below != 0 ? sums[column] / below : NAN;
}

/* `results` holds a run of `rounds` values for each column. Resamples that hold no row of a column
 * say nothing about it. */
static pkb_interval interval_of(double *results, size_t rounds, double value)
{
    pkb_interval interval = {value, NAN, NAN};
    size_t kept = 0;

    for (size_t i = 0; i < rounds; i++)
        if (!isnan(results[i]))
            results[kept++] = results[i];
    if (kept == 0 || isnan(value))
        return interval;
    qsort(results, kept, sizeof *results, compare_doubles);
    interval.low = quantile_of_sorted(results, kept, 0.025);
    interval.high = quantile_of_sorted(results, kept, 0.975);
    return interval;
}

bool pkb_stats_bootstrap_ratios(pkb_interval *out, const pkb_ratios *table, size_t rounds,
                                uint64_t seed)
{
    const size_t columns = table->columns, sums_bytes = 2 * columns * sizeof(double);
    double *sums = malloc(sums_bytes + 1);
    double *results = calloc(columns * rounds + 1, sizeof *results);

    if (sums == NULL || results == NULL) {
        free(sums);
        free(results);
        return false;
    }
    for (size_t round = 0; round < rounds && table->rows > 0; round++) {
        memset(sums, 0, sums_bytes);
        for (size_t i = 0; i < table->rows; i++)
            add_row(sums, table, pkb_random_next(&seed) % table->rows);
        for (size_t c = 0; c < columns; c++)
            results[c * rounds + round] = ratio_of(sums, columns, c);
    }
    memset(sums, 0, sums_bytes);
    for (size_t row = 0; row < table->rows; row++)
        add_row(sums, table, row);
    for (size_t c = 0; c < columns; c++)
        out[c] = interval_of(results + c * rounds, rounds, ratio_of(sums, columns, c));
    free(sums);
    free(results);
    return true;
}

/* ---- signs ---- */

static double flipped_sum(const double *differences, size_t count, uint64_t *state, uint64_t signs)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++) {
        if (state != NULL && i % 64 == 0)
            signs = pkb_random_next(state);
        sum += (signs >> (i % 64)) & 1 ? differences[i] : -differences[i];
    }
    return sum;
}

double pkb_stats_sign_flip(const double *differences, size_t count, size_t rounds, uint64_t seed)
{
    double sum = 0, size = 0;
    size_t hits = 0;

    for (size_t i = 0; i < count; i++) {
        sum += differences[i];
        size += fabs(differences[i]);
    }
    /* Sums in another order may differ in their last bits and are still as large. */
    const double limit = fabs(sum) - 1e-12 * size;
    const bool is_exact = count < 64 && (UINT64_C(1) << count) <= rounds;
    const size_t tries = is_exact ? (size_t)1 << count : rounds;
    for (size_t i = 0; i < tries; i++)
        hits += fabs(flipped_sum(differences, count, is_exact ? NULL : &seed, i)) >= limit;
    return is_exact ? (double)hits / (double)tries : (double)(hits + 1) / (double)(tries + 1);
}
