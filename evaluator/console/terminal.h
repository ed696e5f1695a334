/* SPDX-License-Identifier: Apache-2.0
 *
 * What the terminal can show: colours only where a person looks and did not refuse them.
 */
#ifndef PKB_EVALUATOR_TERMINAL_H
#define PKB_EVALUATOR_TERMINAL_H

#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"

typedef enum pkb_style { PKB_STYLE_GOOD, PKB_STYLE_BAD, PKB_STYLE_DIM, PKB_STYLE_BOLD } pkb_style;

/* A terminal that understands control sequences (TERM is set and not "dumb"). */
bool pkb_terminal_is_live(FILE *stream);
/* The same, and NO_COLOR is empty or unset. */
bool pkb_terminal_has_colour(FILE *stream);
/* Columns of the terminal; 80 where it does not say. */
int pkb_terminal_columns(FILE *stream);
/* Escape sequences, "" where the stream has no colour. */
const char *pkb_terminal_start(FILE *stream, pkb_style style);
const char *pkb_terminal_end(FILE *stream);

/* A word on stderr that somebody else chose, such as a path: nothing in it drives the terminal. */
void pkb_terminal_put(const char *word);
/* "pkbench: message" on stderr. */
void pkb_terminal_error(pkb_code code, const pkb_error *err);

#endif
