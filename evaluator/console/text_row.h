/* SPDX-License-Identifier: Apache-2.0
 *
 * A line of a table for people: cells that line up, without blanks at its end.
 */
#ifndef PKB_EVALUATOR_TEXT_ROW_H
#define PKB_EVALUATOR_TEXT_ROW_H

#include <stdio.h>

typedef struct pkb_text_row {
    FILE *out;
    int owed; /* blanks to write before the next text */
} pkb_text_row;

/* A cell of at least so many columns, its text at the left; or, for numbers, at the right. */
void pkb_text_row_left(pkb_text_row *row, int columns, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void pkb_text_row_right(pkb_text_row *row, int columns, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void pkb_text_row_end(pkb_text_row *row);

#endif
