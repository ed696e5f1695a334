/* SPDX-License-Identifier: Apache-2.0
 *
 * How far a long piece of work is, in one line of a terminal.
 */
#ifndef PKB_EVALUATOR_BAR_H
#define PKB_EVALUATOR_BAR_H

#include <stddef.h>

#include "base/buf.h"

typedef struct pkb_bar {
    size_t done, total;             /* attempts */
    size_t correct, wrong, pending; /* of those done */
    size_t judged;                  /* of those done, how many took time */
    double judged_s;                /* how much, by the clock on the wall */
} pkb_bar;

/* "[####------]  12/40  9 correct, 2 wrong  6.1/min  5 min left  NOW" in at most `columns`: what
 * matters least is left out first. */
void pkb_bar_write(pkb_buf *out, const pkb_bar *bar, const char *now, int columns);

#endif
