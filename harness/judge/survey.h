/* SPDX-License-Identifier: Apache-2.0
 *
 * What one pass over an output finds: sums and extremes of its deviation from the oracle, and how
 * many elements break a rule. compare.c judges by it. These functions work on ordinary memory; a
 * GPU fills the same structures (device.h).
 */
#ifndef PKB_HARNESS_JUDGE_SURVEY_H
#define PKB_HARNESS_JUDGE_SURVEY_H

#include <stddef.h>

#include "harness/judge/compare.h"

/* What one side (attempt or reference) deviates by. Places count parts: see pkb_survey_parts. */
typedef struct pkb_deviation {
    double sum; /* of squares */
    double block_sum[PKB_COMPARE_BLOCKS];
    double largest;
    size_t largest_at, block_largest_at[PKB_COMPARE_BLOCKS];
    double block_largest[PKB_COMPARE_BLOCKS];
    size_t non_finite_count, non_finite_at; /* places where the pattern differs */
} pkb_deviation;

typedef struct pkb_survey {
    pkb_deviation out, reference;
    double oracle_sum; /* of squares, over finite elements */
    size_t finite_count, block_count[PKB_COMPARE_BLOCKS];
    size_t part_count; /* parts looked at: all, or the survey proves nothing */
} pkb_survey;

typedef enum pkb_tally_rule {
    PKB_TALLY_BEYOND,  /* float: |out - oracle| > limit, or another class */
    PKB_TALLY_INEXACT, /* float: not the oracle rounded to the dtype */
    PKB_TALLY_CODE     /* neither the oracle's code nor the other acceptable one */
} pkb_tally_rule;

typedef struct pkb_tally {
    size_t count, first;  /* elements that break the rule; the first of them */
    size_t element_count; /* looked at: all, or the tally proves nothing */
} pkb_tally;

/* Parts are real numbers: two for each complex element. */
size_t pkb_survey_parts(pkb_dtype dtype);
pkb_dtype pkb_survey_part_dtype(pkb_dtype dtype);
/* Block b of rows begins at row b * rows / blocks; the last block ends with all parts. */
size_t pkb_survey_block_begin(const pkb_comparison *comparison, size_t block);

void pkb_survey_take(pkb_survey *out, const pkb_comparison *comparison);
pkb_tally pkb_tally_take(const pkb_comparison *comparison, pkb_tally_rule rule, double limit);

/* Totals from the blocks; the last step of whoever fills a survey. */
void pkb_survey_close(pkb_survey *survey);

#endif
