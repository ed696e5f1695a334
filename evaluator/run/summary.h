/* SPDX-License-Identifier: Apache-2.0
 *
 * What a run shows on stderr: a line an attempt, and at the end a table with a row a problem.
 */
#ifndef PKB_EVALUATOR_SUMMARY_H
#define PKB_EVALUATOR_SUMMARY_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/stats.h"
#include "base/verdict.h"

enum { PKB_SUMMARY_PARTS = 7 };

/* Of one problem. */
typedef struct pkb_summary_row {
    const char *problem; /* borrowed */
    size_t attempts, correct;
    pkb_verdict verdict; /* of the best attempt */
    bool has_speedup;
    pkb_interval speedup; /* the best */
    double seconds, parts_s[PKB_SUMMARY_PARTS];
} pkb_summary_row;

typedef struct pkb_summary {
    pkb_summary_row *rows;
    size_t count, capacity;
} pkb_summary;

typedef struct pkb_summary_place {
    size_t index, count; /* attempt `index` (from 1) of `count` */
    const char *problem; /* borrowed until the summary is cleared */
    long long sample;
    int name_columns; /* of the widest "problem/sample" among the `count`; 0 = not known */
} pkb_summary_place;

/* For the first column of a table of problems: `columns`, or as many more as `problem` needs. */
int pkb_summary_columns(int columns, const char *problem);
/* "[ 3/40] 013_gemm_allreduce/2": what comes first in a line. */
void pkb_summary_subject(char *out, size_t bytes, const pkb_summary_place *place);
/* Prints the line of an attempt. */
void pkb_summary_line(FILE *out, const pkb_summary_place *place, const cJSON *record);
/* Counts a record; false when out of memory. */
bool pkb_summary_add(pkb_summary *summary, const char *problem, const cJSON *record);
void pkb_summary_print(FILE *out, const pkb_summary *summary);
void pkb_summary_clear(pkb_summary *summary);

#endif
