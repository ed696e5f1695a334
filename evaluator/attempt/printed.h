/* SPDX-License-Identifier: Apache-2.0
 *
 * What an attempt printed: the judges leave head and tail of it in <work>/rank<r>.txt.
 */
#ifndef PKB_EVALUATOR_PRINTED_H
#define PKB_EVALUATOR_PRINTED_H

#include "base/buf.h"
#include "evaluator/machine/workdir.h"

/* "rank1.txt" in `name`. */
enum { PKB_PRINTED_NAME_BYTES = 32 };
void pkb_printed_name(char name[PKB_PRINTED_NAME_BYTES], int rank);

/* Appends the last lines of a text, cleaned and cut, each after `indent`. */
void pkb_printed_tail(pkb_buf *out, const char *text, const char *indent);

/* The last lines of `rank` or, where it printed nothing, of the first rank that did; that rank goes
 * to `*shown`. Nothing where nobody printed: best effort, these words decide nothing. */
void pkb_printed_read(pkb_buf *out, const pkb_workdir *workdir, int world, int rank, int *shown);

#endif
