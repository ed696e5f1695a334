/* SPDX-License-Identifier: Apache-2.0
 *
 * Means over problems with their intervals; see score.h. One table has a row a problem and a column
 * a number, so that one resample of the problems serves all numbers.
 */
#include <math.h>
#include <stdlib.h>

#include "evaluator/score/estimator.h"
#include "evaluator/score/score.h"

const size_t pkb_score_ks[PKB_SCORE_KS] = {1, 3, 5, 10};
const double pkb_score_ps[PKB_SCORE_PS] = {1, 1.25, 1.5, 2, 4};

typedef struct table {
    double *up, *down;
    size_t rows, columns;
} table;

static pkb_code open_table(table *out, size_t rows, size_t columns, pkb_error *err)
{
    *out = (table){.up = calloc(rows * columns + 1, sizeof *out->up),
                   .down = calloc(rows * columns + 1, sizeof *out->down),
                   .rows = rows,
                   .columns = columns};
    if (out->up != NULL && out->down != NULL)
        return PKB_OK;
    return pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for the score");
}

static void clear(table *t)
{
    free(t->up);
    free(t->down);
}

/* What is undefined for a problem does not count there. */
static void put(table *t, size_t row, size_t column, double up, double down)
{
    if (isnan(up) || down == 0)
        return;
    t->up[row * t->columns + column] = up;
    t->down[row * t->columns + column] = down;
}

static size_t count_defined(const table *t, size_t column)
{
    size_t defined = 0;
    for (size_t row = 0; row < t->rows; row++)
        defined += t->down[row * t->columns + column] != 0;
    return defined;
}

/* One problem says nothing about others: no interval. */
static pkb_code resample(pkb_interval *out, const table *t, uint64_t seed, pkb_error *err)
{
    const pkb_ratios ratios = {t->up, t->down, t->rows, t->columns};

    if (!pkb_stats_bootstrap_ratios(out, &ratios, PKB_SCORE_ROUNDS, seed))
        return pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for the score");
    for (size_t column = 0; column < t->columns; column++)
        if (count_defined(t, column) < 2)
            out[column].low = out[column].high = NAN;
    return PKB_OK;
}

/* ---- a group ---- */

void pkb_score_columns(double out[PKB_SCORE_COLUMNS], const pkb_score *score,
                       const pkb_score_problem *problem)
{
    const size_t n = problem->judged;

    for (size_t column = 0; column < PKB_SCORE_COLUMNS; column++)
        out[column] = NAN;
    for (size_t i = 0; i < PKB_SCORE_KS; i++) {
        const size_t k = pkb_score_ks[i];
        out[PKB_SCORE_PASS_COLUMN + i] = pkb_estimate_pass(n, problem->correct, k);
        if (!score->has_speed)
            continue;
        out[PKB_SCORE_BEST_COLUMN + i] = pkb_estimate_best(problem->logs, problem->timed, n, k, 0);
        for (size_t p = 0; p < PKB_SCORE_PS; p++)
            out[PKB_SCORE_FAST_COLUMN + p * PKB_SCORE_KS + i] =
                pkb_estimate_pass(n, problem->faster[p].point, k);
    }
    if (score->has_speed && problem->timed > 0)
        out[PKB_SCORE_SPEEDUP_COLUMN] = problem->log_speedup / (double)problem->timed;
}

/* Every problem counts once, but for the speed-up, where every timed attempt does. */
static void fill_row(table *t, size_t row, const pkb_score *score, const pkb_score_problem *problem)
{
    double values[PKB_SCORE_COLUMNS];

    pkb_score_columns(values, score, problem);
    for (size_t column = 0; column < PKB_SCORE_COLUMNS; column++) {
        const double weight = column == PKB_SCORE_SPEEDUP_COLUMN ? (double)problem->timed : 1;
        put(t, row, column, values[column] * weight, weight);
    }
}

static pkb_interval exponential(pkb_interval logs)
{
    return (pkb_interval){exp(logs.value), exp(logs.low), exp(logs.high)};
}

static void take_values(pkb_score_group *group, const table *t, const pkb_interval *values)
{
    for (size_t i = 0; i < PKB_SCORE_KS; i++) {
        group->pass[i].mean = values[PKB_SCORE_PASS_COLUMN + i];
        group->pass[i].problems = count_defined(t, PKB_SCORE_PASS_COLUMN + i);
        group->best[i].mean = exponential(values[PKB_SCORE_BEST_COLUMN + i]);
        group->best[i].problems = count_defined(t, PKB_SCORE_BEST_COLUMN + i);
        for (size_t p = 0; p < PKB_SCORE_PS; p++) {
            const size_t column = PKB_SCORE_FAST_COLUMN + p * PKB_SCORE_KS + i;
            group->fast[p][i].mean = values[column];
            group->fast[p][i].problems = count_defined(t, column);
        }
    }
    group->speedup = exponential(values[PKB_SCORE_SPEEDUP_COLUMN]);
}

static void add_counts(pkb_score_group *group, const pkb_score_problem *problem)
{
    group->problems++;
    group->seen += problem->judged > 0;
    group->planned += problem->planned;
    group->judged += problem->judged;
    group->correct += problem->correct;
    group->pending += problem->pending;
    group->unsupported += problem->unsupported;
    group->missing += problem->missing;
    group->distinct += problem->distinct;
    group->unmeasured += problem->unmeasured;
    group->timed += problem->timed;
    group->solved += problem->correct > 0;
    for (size_t p = 0; p < PKB_SCORE_PS; p++)
        group->straddling[p] +=
            problem->faster[p].high - problem->faster[p].low - problem->unmeasured;
}

/* ---- bounds: means without an interval ---- */

typedef struct mean {
    double sum;
    size_t count;
} mean;

static void add(mean *to, double value)
{
    if (isnan(value))
        return;
    to->sum += value;
    to->count++;
}

static double value_of(const mean *of)
{
    return of->count > 0 ? of->sum / (double)of->count : NAN;
}

static void bound_pass(pkb_score_group *group, const pkb_score *score, pkb_score_members members,
                       size_t i)
{
    const size_t k = pkb_score_ks[i];
    mean fail = {0}, pass = {0};

    for (size_t m = 0; m < members.count; m++) {
        const pkb_score_problem *problem = &score->problems[members.items[m]];
        const size_t open = problem->planned - problem->judged;
        add(&fail, pkb_estimate_pass(problem->planned, problem->correct, k));
        add(&pass, pkb_estimate_pass(problem->planned, problem->correct + open, k));
    }
    group->pass[i].if_fail = value_of(&fail);
    group->pass[i].if_pass = value_of(&pass);
    group->pass[i].by_low = group->pass[i].by_high = NAN;
    group->best[i].if_fail = group->best[i].if_pass = NAN; /* of no known speed */
    group->best[i].by_low = group->best[i].by_high = NAN;
}

static void bound_fast(pkb_score_group *group, const pkb_score *score, pkb_score_members members,
                       size_t p, size_t i)
{
    const size_t k = pkb_score_ks[i];
    mean fail = {0}, pass = {0}, low = {0}, high = {0};

    for (size_t m = 0; m < members.count && score->has_speed; m++) {
        const pkb_score_problem *problem = &score->problems[members.items[m]];
        const pkb_score_faster *faster = &problem->faster[p];
        const size_t open = problem->planned - problem->judged;
        add(&fail, pkb_estimate_pass(problem->planned, faster->point, k));
        add(&pass, pkb_estimate_pass(problem->planned, faster->point + open, k));
        add(&low, pkb_estimate_pass(problem->judged, faster->low, k));
        add(&high, pkb_estimate_pass(problem->judged, faster->high, k));
    }
    pkb_score_value *value = &group->fast[p][i];
    value->if_fail = value_of(&fail);
    value->if_pass = value_of(&pass);
    value->by_low = value_of(&low);
    value->by_high = value_of(&high);
}

pkb_code pkb_score_group_fill(pkb_score_group *group, const pkb_score *score,
                              pkb_score_members members, pkb_error *err)
{
    pkb_interval values[PKB_SCORE_COLUMNS];
    table t = {0};

    pkb_code rc = open_table(&t, members.count, PKB_SCORE_COLUMNS, err);
    for (size_t row = 0; row < members.count && rc == PKB_OK; row++) {
        const pkb_score_problem *problem = &score->problems[members.items[row]];
        fill_row(&t, row, score, problem);
        add_counts(group, problem);
    }
    if (rc == PKB_OK)
        rc = resample(values, &t, score->seed, err);
    if (rc == PKB_OK) {
        take_values(group, &t, values);
        for (size_t i = 0; i < PKB_SCORE_KS; i++) {
            bound_pass(group, score, members, i);
            for (size_t p = 0; p < PKB_SCORE_PS; p++)
                bound_fast(group, score, members, p, i);
        }
    }
    clear(&t);
    return rc;
}

/* ---- a class of sizes ---- */

pkb_code pkb_score_size_fill(pkb_score_size *size, const pkb_score *score,
                             pkb_size_class size_class, pkb_error *err)
{
    pkb_interval values[2];
    table t = {0};

    pkb_code rc = open_table(&t, score->problem_count, 2, err);
    for (size_t row = 0; row < score->problem_count && rc == PKB_OK; row++) {
        const pkb_score_problem *problem = &score->problems[row];
        const pkb_outcome_sizes *sums = &problem->sizes[size_class];
        if (!problem->asks[size_class])
            continue;
        size->problems += problem->judged > 0;
        size->judged += problem->judged;
        size->reached += problem->reached[size_class];
        size->right += problem->right[size_class];
        put(&t, row, 0, pkb_estimate_pass(problem->judged, problem->right[size_class], 1), 1);
        if (score->has_speed) {
            size->timed += sums->timed;
            put(&t, row, 1, sums->log_speedup, (double)sums->timed);
        }
    }
    if (rc == PKB_OK)
        rc = resample(values, &t, score->seed, err);
    if (rc == PKB_OK) {
        size->pass = values[0];
        size->speedup = exponential(values[1]);
    }
    clear(&t);
    return rc;
}
