/* SPDX-License-Identifier: Apache-2.0
 *
 * A problem in words, for `pkbench show` and for prompts.
 */
#ifndef PKB_EVALUATOR_EXPLAIN_H
#define PKB_EVALUATOR_EXPLAIN_H

#include "base/buf.h"
#include "evaluator/problem/problem.h"

/* Appends `text` wrapped at `columns`, each line after `indent`. */
void pkb_explain_wrap(pkb_buf *out, const char *text, const char *indent, size_t columns);

/* Appends a line per argument: name, role, dtype, shape, check. */
void pkb_explain_arguments(pkb_buf *out, const pkb_problem *problem);
/* Appends a line per size. */
void pkb_explain_sizes(pkb_buf *out, const pkb_problem *problem);
/* Appends the grid, derived dims and conditions; nothing where there are none. */
void pkb_explain_dims(pkb_buf *out, const pkb_problem *problem);
/* The whole page of `pkbench show`. */
void pkb_explain_problem(pkb_buf *out, const pkb_problem *problem);

#endif
