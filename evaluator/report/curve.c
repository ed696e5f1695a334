/* SPDX-License-Identifier: Apache-2.0
 *
 * Curves over thresholds; see curve.h.
 */
#include "evaluator/report/curve.h"

#include <math.h>
#include <stdlib.h>

#include "evaluator/score/estimator.h"
#include "evaluator/score/score_print.h"

/* Thresholds lie a sixth of a doubling apart where that is no more than so many. */
enum { PER_DOUBLING = 6, MOST_STEPS = 72, MOST_THRESHOLDS = MOST_STEPS + 1 + PKB_SCORE_PS };

typedef struct thresholds {
    double values[MOST_THRESHOLDS];
    size_t count;
} thresholds;

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* From below the least to above the largest speed-up; false: there is none. */
static bool lay_out(thresholds *out, const pkb_score *score)
{
    double low = 0, high = 0; /* 1 is always shown */
    size_t timed = 0;

    for (size_t i = 0; i < score->problem_count; i++) {
        const pkb_score_problem *problem = &score->problems[i];
        timed += problem->timed;
        for (size_t k = 0; k < problem->timed; k++) {
            low = fmin(low, problem->logs[k] / M_LN2);
            high = fmax(high, problem->logs[k] / M_LN2);
        }
    }
    low = floor(low - 0.01);
    high = ceil(high + 0.01);
    const size_t steps = (size_t)fmin((high - low) * PER_DOUBLING, MOST_STEPS);
    for (size_t i = 0; i <= steps; i++)
        out->values[out->count++] = exp2(low + (high - low) * (double)i / (double)steps);
    for (size_t p = 0; p < PKB_SCORE_PS; p++)
        if (pkb_score_ps[p] > exp2(low) && pkb_score_ps[p] < exp2(high))
            out->values[out->count++] = pkb_score_ps[p];
    qsort(out->values, out->count, sizeof *out->values, compare_doubles);
    size_t kept = 0;
    for (size_t i = 0; i < out->count; i++)
        if (kept == 0 || out->values[i] > out->values[kept - 1] * (1 + 1e-9))
            out->values[kept++] = out->values[i];
    out->count = kept;
    return timed > 0;
}

static size_t count_faster(const pkb_score_problem *problem, double threshold)
{
    size_t count = 0;

    for (size_t i = 0; i < problem->timed; i++)
        count += exp(problem->logs[i]) > threshold * (1 + 1e-12);
    return count;
}

/* A row a problem, a column a threshold and k. */
static void fill(pkb_ratios *table, double *up, double *down, const pkb_score *score,
                 const thresholds *at)
{
    for (size_t row = 0; row < score->problem_count; row++) {
        const pkb_score_problem *problem = &score->problems[row];
        for (size_t t = 0; t < at->count; t++) {
            const size_t faster = count_faster(problem, at->values[t]);
            for (size_t k = 0; k < PKB_SCORE_KS; k++) {
                const double value = pkb_estimate_pass(problem->judged, faster, pkb_score_ks[k]);
                const size_t cell = row * table->columns + k * at->count + t;
                up[cell] = isnan(value) ? 0 : value;
                down[cell] = isnan(value) ? 0 : 1;
            }
        }
    }
}

typedef enum end { LOW, VALUE, HIGH } end;

static double get(const pkb_interval *interval, end which)
{
    return which == LOW ? interval->low : which == HIGH ? interval->high : interval->value;
}

static void add_numbers(cJSON *to, const char *key, const pkb_interval *values, size_t count,
                        end which)
{
    cJSON *list = cJSON_AddArrayToObject(to, key);
    for (size_t i = 0; i < count; i++) {
        char text[32];
        snprintf(text, sizeof text, "%.5g", get(&values[i], which));
        cJSON_AddItemToArray(list, cJSON_CreateRaw(text));
    }
}

static void add_curves(cJSON *to, const pkb_interval *values, const thresholds *at,
                       const size_t *defined)
{
    cJSON *list = cJSON_AddArrayToObject(to, "thresholds"), *ks = NULL;

    for (size_t t = 0; t < at->count; t++) {
        char text[32];
        snprintf(text, sizeof text, "%.6g", at->values[t]);
        cJSON_AddItemToArray(list, cJSON_CreateRaw(text));
    }
    ks = cJSON_AddObjectToObject(to, "k");
    for (size_t k = 0; k < PKB_SCORE_KS; k++) {
        const pkb_interval *column = values + k * at->count;
        char key[24];
        if (defined[k] == 0)
            continue;
        snprintf(key, sizeof key, "%zu", pkb_score_ks[k]);
        cJSON *curve = cJSON_AddObjectToObject(ks, key);
        cJSON_AddNumberToObject(curve, "problems", (double)defined[k]);
        add_numbers(curve, "value", column, at->count, VALUE);
        if (defined[k] < 2)
            continue; /* one problem says nothing about others */
        add_numbers(curve, "low", column, at->count, LOW);
        add_numbers(curve, "high", column, at->count, HIGH);
    }
}

pkb_code pkb_curve_json(cJSON **out, const pkb_score *score, pkb_error *err)
{
    thresholds at = {0};
    size_t defined[PKB_SCORE_KS] = {0};
    pkb_code rc = PKB_OK;

    *out = NULL;
    if (!score->has_speed || !lay_out(&at, score))
        return PKB_OK;
    pkb_ratios table = {.rows = score->problem_count, .columns = at.count * PKB_SCORE_KS};
    double *up = calloc(table.rows * table.columns, sizeof *up);
    double *down = calloc(table.rows * table.columns, sizeof *down);
    pkb_interval *values = calloc(table.columns, sizeof *values);
    cJSON *json = cJSON_CreateObject();
    bool is_good = up != NULL && down != NULL && values != NULL && json != NULL;

    if (is_good) {
        fill(&table, up, down, score, &at);
        table.numerators = up;
        table.denominators = down;
        is_good = pkb_stats_bootstrap_ratios(values, &table, PKB_SCORE_ROUNDS, score->seed);
    }
    for (size_t row = 0; is_good && row < table.rows; row++)
        for (size_t k = 0; k < PKB_SCORE_KS; k++)
            defined[k] += down[row * table.columns + k * at.count] != 0;
    if (is_good) {
        add_curves(json, values, &at, defined);
        *out = json;
        json = NULL;
    } else {
        rc = pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for the curves");
    }
    cJSON_Delete(json);
    free(up);
    free(down);
    free(values);
    return rc;
}
