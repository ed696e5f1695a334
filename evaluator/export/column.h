/* SPDX-License-Identifier: Apache-2.0
 *
 * The columns of exported tables (docs/export.md): what they are called, which type they have and
 * where their values come from.
 */
#ifndef PKB_EVALUATOR_COLUMN_H
#define PKB_EVALUATOR_COLUMN_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

#include "evaluator/record/outcome.h"

/* One row an attempt, one a size of it, one a batch of that. */
typedef enum pkb_rows { PKB_ROWS_ATTEMPTS, PKB_ROWS_SIZES, PKB_ROWS_BATCHES } pkb_rows;
enum { PKB_ROWS_COUNT = PKB_ROWS_BATCHES + 1 };

const char *pkb_rows_name(pkb_rows rows);

typedef enum pkb_cell_type {
    PKB_CELL_TEXT,
    PKB_CELL_WHOLE, /* whole number, exact up to 2^53 */
    PKB_CELL_REAL,
    PKB_CELL_TRUTH,
    PKB_CELL_WHOLES /* list of whole numbers */
} pkb_cell_type;

/* "VARCHAR", "BIGINT", "DOUBLE", "BOOLEAN", "BIGINT[]": as DuckDB has them. */
const char *pkb_cell_type_name(pkb_cell_type type);

/* What a row is about. */
typedef struct pkb_row {
    const pkb_outcome *outcome;
    const char *id; /* made of the parts, which is what rows are joined by */
    const char *category;
    const cJSON *record, *size, *batch; /* NULL: the row is of something larger */
} pkb_row;

typedef struct pkb_cell {
    bool is_there;
    const char *text;
    double number;
    bool truth;
    const cJSON *list;
} pkb_cell;

typedef struct pkb_column {
    const char *name;
    pkb_cell_type type;
    const char *what; /* with the unit */
} pkb_column;

size_t pkb_column_count(pkb_rows rows);
const pkb_column *pkb_column_at(pkb_rows rows, size_t index);
/* Its value: nothing where the record says none, or one of another type. */
pkb_cell pkb_column_value(pkb_rows rows, size_t index, const pkb_row *row);

#endif
