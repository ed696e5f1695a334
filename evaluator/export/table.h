/* SPDX-License-Identifier: Apache-2.0
 *
 * The records that count as rows of comma-separated values, one run after another.
 */
#ifndef PKB_EVALUATOR_TABLE_H
#define PKB_EVALUATOR_TABLE_H

#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"
#include "evaluator/export/column.h"
#include "evaluator/record/names.h"
#include "evaluator/score/score.h"

typedef struct pkb_table {
    FILE *out; /* the caller's */
    pkb_rows rows;
    bool is_guarded; /* texts are safe in a spreadsheet; see csv.h */
    pkb_names ids;   /* of the attempts written */
    size_t row_count;
} pkb_table;

/* The names of the columns. */
void pkb_table_head(const pkb_table *table);
/* By problem, then sample. PKB_ERR_USAGE: an attempt that an earlier run had, too; PKB_ERR_DISK: it
 * cannot be written. */
pkb_code pkb_table_add(pkb_table *table, const pkb_score *score, pkb_error *err);
void pkb_table_clear(pkb_table *table);

#endif
