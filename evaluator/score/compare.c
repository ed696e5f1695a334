/* SPDX-License-Identifier: Apache-2.0
 *
 * Pairs of problems and what they say; see compare.h.
 */
#include "evaluator/score/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static pkb_code no_memory(pkb_error *err)
{
    return pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for the comparison");
}

/* ---- may they be compared? ---- */

/* These are what people compare. */
static bool may_differ(pkb_condition condition)
{
    return condition == PKB_CONDITION_RUN || condition == PKB_CONDITION_FEEDBACK ||
           condition == PKB_CONDITION_POLICY;
}

static bool is_same(const char *a, const char *b)
{
    /* What was not said differs from nothing. */
    return a == NULL || b == NULL || strcmp(a, b) == 0;
}

static pkb_code check_conditions(pkb_compare *compare, bool mixes, pkb_error *err)
{
    for (int i = 0; i < PKB_CONDITION_COUNT; i++) {
        const pkb_condition condition = (pkb_condition)i;
        const char *a = pkb_runset_condition(compare->a->runset, condition);
        const char *b = pkb_runset_condition(compare->b->runset, condition);
        if (pkb_condition_is_optional(condition)) {
            a = a != NULL ? a : "none";
            b = b != NULL ? b : "none";
        }
        if (may_differ(condition) || is_same(a, b))
            continue;
        compare->is_different[i] = true;
        if (!mixes)
            return pkb_error_set(err, PKB_ERR_USAGE, 0,
                                 "%s should not differ between runs that are compared: \"%.80s\" "
                                 "and \"%.80s\"; to compare them all the same, marked, use --mix",
                                 pkb_condition_name(condition), a, b);
    }
    return PKB_OK;
}

/* The first record of a problem that says something about it, or NULL. */
static const pkb_outcome *find_outcome(const pkb_score *score, const pkb_score_problem *problem,
                                       bool (*says)(const pkb_outcome *outcome))
{
    const pkb_runset *runset = score->runset;
    const pkb_runset_problem *from = &runset->problems[problem - score->problems];

    for (size_t i = 0; i < from->count; i++)
        if (says(&runset->outcomes[from->first + i]))
            return &runset->outcomes[from->first + i];
    return NULL;
}

static bool says_sizes(const pkb_outcome *outcome)
{
    return outcome->sizes_asked != NULL;
}

static bool says_definition(const pkb_outcome *outcome)
{
    return outcome->definition != NULL;
}

static pkb_code check_sizes(pkb_compare *compare, const pkb_compare_pair *pair, bool mixes,
                            pkb_error *err)
{
    const pkb_outcome *a = find_outcome(compare->a, pair->a, says_sizes);
    const pkb_outcome *b = find_outcome(compare->b, pair->b, says_sizes);

    if (a == NULL || b == NULL || is_same(a->sizes_asked, b->sizes_asked))
        return PKB_OK;
    compare->has_different_sizes = true;
    if (mixes)
        return PKB_OK;
    return pkb_error_set(err, PKB_ERR_USAGE, 0,
                         "%s was judged at other sizes in one run, \"%.80s\", than in the "
                         "other, \"%.80s\"; to compare them all the same, marked, use --mix",
                         pair->a->name, a->sizes_asked, b->sizes_asked);
}

static pkb_code check_definitions(pkb_compare *compare, const pkb_compare_pair *pair, bool mixes,
                                  pkb_error *err)
{
    const pkb_outcome *a = find_outcome(compare->a, pair->a, says_definition);
    const pkb_outcome *b = find_outcome(compare->b, pair->b, says_definition);

    if (a == NULL || b == NULL || is_same(a->definition, b->definition))
        return PKB_OK;
    compare->has_different_definitions = true;
    if (mixes)
        return PKB_OK;
    return pkb_error_set(err, PKB_ERR_USAGE, 0,
                         "%s was not the same problem in both runs (its file or its reference "
                         "changed): judge one of them again; to compare them all the same, marked, "
                         "use --mix",
                         pair->a->name);
}

static pkb_code check_problems(pkb_compare *compare, bool mixes, pkb_error *err)
{
    pkb_code rc = PKB_OK;

    for (size_t i = 0; i < compare->pair_count && rc == PKB_OK; i++) {
        const pkb_compare_pair *pair = &compare->pairs[i];
        if (pair->a == NULL || pair->b == NULL)
            continue;
        rc = check_sizes(compare, pair, mixes, err);
        if (rc == PKB_OK)
            rc = check_definitions(compare, pair, mixes, err);
    }
    return rc;
}

/* ---- pairs ---- */

/* Both lists are sorted by name. */
static pkb_code pair_up(pkb_compare *compare, pkb_error *err)
{
    const pkb_score *a = compare->a, *b = compare->b;
    size_t i = 0, k = 0;

    compare->pairs = calloc(a->problem_count + b->problem_count + 1, sizeof *compare->pairs);
    if (compare->pairs == NULL)
        return no_memory(err);
    while (i < a->problem_count || k < b->problem_count) {
        pkb_compare_pair *pair = &compare->pairs[compare->pair_count++];
        const int order = i == a->problem_count ? 1
                          : k == b->problem_count
                              ? -1
                              : strcmp(a->problems[i].name, b->problems[k].name);
        pair->a = order <= 0 ? &a->problems[i++] : NULL;
        pair->b = order >= 0 ? &b->problems[k++] : NULL;
        const bool in_a = pair->a != NULL && pair->a->judged > 0;
        const bool in_b = pair->b != NULL && pair->b->judged > 0;
        compare->both += in_a && in_b;
        compare->only_a += in_a && !in_b;
        compare->only_b += in_b && !in_a;
    }
    if (compare->both > 0)
        return PKB_OK;
    return pkb_error_set(err, PKB_ERR_USAGE, 0, "%s and %s have no judged problem in common",
                         a->runset->name, b->runset->name);
}

int pkb_compare_flip(const pkb_compare_pair *pair, bool is_fast)
{
    if (pair->a == NULL || pair->b == NULL || pair->a->judged == 0 || pair->b->judged == 0)
        return 0;
    const size_t a = is_fast ? pair->a->faster[0].point : pair->a->correct;
    const size_t b = is_fast ? pair->b->faster[0].point : pair->b->correct;
    return (b > 0) - (a > 0);
}

/* ---- numbers ---- */

bool pkb_compare_is_ratio(size_t column)
{
    return column == PKB_SCORE_SPEEDUP_COLUMN ||
           (column >= PKB_SCORE_BEST_COLUMN && column < PKB_SCORE_BEST_COLUMN + PKB_SCORE_KS);
}

/* A row a pair, a column a number: the differences, and whether there are any. */
typedef struct table {
    double *change, *is_there;
    double sum_a[PKB_SCORE_COLUMNS], sum_b[PKB_SCORE_COLUMNS];
} table;

static void fill_table(table *t, const pkb_compare *compare)
{
    double a[PKB_SCORE_COLUMNS], b[PKB_SCORE_COLUMNS];

    for (size_t row = 0; row < compare->pair_count; row++) {
        const pkb_compare_pair *pair = &compare->pairs[row];
        if (pair->a == NULL || pair->b == NULL)
            continue;
        pkb_score_columns(a, compare->a, pair->a);
        pkb_score_columns(b, compare->b, pair->b);
        for (size_t column = 0; column < PKB_SCORE_COLUMNS; column++) {
            if (isnan(a[column]) || isnan(b[column]))
                continue;
            t->change[row * PKB_SCORE_COLUMNS + column] = b[column] - a[column];
            t->is_there[row * PKB_SCORE_COLUMNS + column] = 1;
            t->sum_a[column] += a[column];
            t->sum_b[column] += b[column];
        }
    }
}

static double test(const table *t, size_t rows, size_t column, double *scratch, uint64_t seed)
{
    size_t count = 0;

    for (size_t row = 0; row < rows; row++)
        if (t->is_there[row * PKB_SCORE_COLUMNS + column] != 0)
            scratch[count++] = t->change[row * PKB_SCORE_COLUMNS + column];
    return count > 0 ? pkb_stats_sign_flip(scratch, count, PKB_SCORE_ROUNDS, seed) : NAN;
}

static void take_row(pkb_compare *compare, const table *t, size_t column, pkb_interval change)
{
    pkb_compare_row *row = &compare->rows[column];

    for (size_t i = 0; i < compare->pair_count; i++)
        row->problems += t->is_there[i * PKB_SCORE_COLUMNS + column] != 0;
    row->a = row->problems > 0 ? t->sum_a[column] / (double)row->problems : NAN;
    row->b = row->problems > 0 ? t->sum_b[column] / (double)row->problems : NAN;
    if (row->problems < 2)
        change.low = change.high = NAN;
    row->change = change;
    if (!pkb_compare_is_ratio(column))
        return;
    row->a = exp(row->a);
    row->b = exp(row->b);
    row->change = (pkb_interval){exp(change.value), exp(change.low), exp(change.high)};
}

static pkb_code fill_rows(pkb_compare *compare, pkb_error *err)
{
    const size_t rows = compare->pair_count, cells = rows * PKB_SCORE_COLUMNS;
    const uint64_t seed = compare->a->seed;
    pkb_interval changes[PKB_SCORE_COLUMNS];
    table t = {.change = calloc(cells + 1, sizeof *t.change),
               .is_there = calloc(cells + 1, sizeof *t.is_there)};
    double *scratch = calloc(rows + 1, sizeof *scratch);
    pkb_code rc = PKB_OK;

    if (t.change == NULL || t.is_there == NULL || scratch == NULL) {
        rc = no_memory(err);
        goto cleanup;
    }
    fill_table(&t, compare);
    const pkb_ratios ratios = {t.change, t.is_there, rows, PKB_SCORE_COLUMNS};
    if (!pkb_stats_bootstrap_ratios(changes, &ratios, PKB_SCORE_ROUNDS, seed)) {
        rc = no_memory(err);
        goto cleanup;
    }
    for (size_t column = 0; column < PKB_SCORE_COLUMNS; column++) {
        take_row(compare, &t, column, changes[column]);
        compare->rows[column].p_value = test(&t, rows, column, scratch, seed);
    }
cleanup:
    free(t.change);
    free(t.is_there);
    free(scratch);
    return rc;
}

pkb_code pkb_compare_make(pkb_compare *out, const pkb_score *a, const pkb_score *b, bool mixes,
                          pkb_error *err)
{
    *out = (pkb_compare){.a = a, .b = b};
    pkb_code rc = check_conditions(out, mixes, err);
    if (rc == PKB_OK)
        rc = pair_up(out, err);
    if (rc == PKB_OK)
        rc = check_problems(out, mixes, err);
    if (rc == PKB_OK)
        rc = fill_rows(out, err);
    out->is_complete = a->is_complete && b->is_complete && out->only_a == 0 && out->only_b == 0;
    return rc;
}

void pkb_compare_clear(pkb_compare *compare)
{
    free(compare->pairs);
    *compare = (pkb_compare){0};
}
