/* SPDX-License-Identifier: Apache-2.0
 *
 * Cells of comma-separated values (RFC 4180). Texts are always quoted, so that an empty one differs
 * from a value that is not there.
 */
#ifndef PKB_EVALUATOR_CSV_H
#define PKB_EVALUATOR_CSV_H

#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"

enum { PKB_CSV_TEXT_BYTES = 32 << 10 };

/* Writes the text in quotes, cleaned as for a terminal and cut behind PKB_CSV_TEXT_BYTES. With
 * `is_guarded`, one that a spreadsheet could take for a formula (=, +, -, @ at its beginning) or
 * that begins with an apostrophe gets an apostrophe in front: taking that away gives the text. */
pkb_code pkb_csv_text(FILE *out, const char *text, bool is_guarded, pkb_error *err);
/* Writes the shortest form that reads back as the same number. */
void pkb_csv_number(FILE *out, double number);

#endif
