/* SPDX-License-Identifier: Apache-2.0
 *
 * Two runs, paired problem by problem (docs/scores.md).
 */
#ifndef PKB_EVALUATOR_COMPARE_H
#define PKB_EVALUATOR_COMPARE_H

#include <cjson/cJSON.h>
#include <stdio.h>

#include "evaluator/score/score.h"

/* A number over the problems where both runs have it. Ratios (best of k, speed-up) are B over A and
 * their means geometric, all others are differences, B less A. */
typedef struct pkb_compare_row {
    double a, b;
    pkb_interval change; /* 95 % bootstrap interval over pairs, where there are two or more */
    double p_value;      /* NaN: no pair */
    size_t problems;
} pkb_compare_row;

/* A problem in both runs, or in one of them: then the other is NULL. */
typedef struct pkb_compare_pair {
    const pkb_score_problem *a, *b;
} pkb_compare_pair;

typedef struct pkb_compare {
    const pkb_score *a, *b;
    pkb_compare_pair *pairs; /* by name */
    size_t pair_count;
    size_t both, only_a, only_b; /* problems with judged attempts in both, or in one */
    pkb_compare_row rows[PKB_SCORE_COLUMNS];
    bool is_different[PKB_CONDITION_COUNT]; /* conditions that differ, and should not */
    bool has_different_sizes;               /* of a problem */
    bool has_different_definitions;         /* of a problem */
    bool is_complete;
} pkb_compare;

/* PKB_ERR_USAGE: the runs were judged under conditions that differ and `mixes` is not set, or have
 * no problem in common. The scores must outlive it; the caller clears in any case. */
pkb_code pkb_compare_make(pkb_compare *out, const pkb_score *a, const pkb_score *b, bool mixes,
                          pkb_error *err);
void pkb_compare_clear(pkb_compare *compare);

bool pkb_compare_is_ratio(size_t column);

/* Which of a pair's runs solved the problem (or, `is_fast`, beat the reference there), if only one
 * did: -1 A, 1 B, 0 both or none. */
int pkb_compare_flip(const pkb_compare_pair *pair, bool is_fast);

/* compare_print.c: one JSON object, which the caller frees; tables. */
pkb_code pkb_compare_json(cJSON **out, const pkb_compare *compare, pkb_error *err);
void pkb_compare_text(FILE *out, const pkb_compare *compare);

#endif
