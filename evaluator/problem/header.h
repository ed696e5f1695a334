/* SPDX-License-Identifier: Apache-2.0
 *
 * problem.h, the header generated for an attempt: struct pkb_args with the problem's own names,
 * arguments in file order and then the dims, 8 bytes a field.
 */
#ifndef PKB_EVALUATOR_HEADER_H
#define PKB_EVALUATOR_HEADER_H

#include "base/buf.h"
#include "evaluator/problem/problem.h"

/* Appends the struct alone, each field with its shape as a comment. */
void pkb_header_struct(pkb_buf *out, const pkb_problem *problem);
/* Appends the whole header. */
void pkb_header_write(pkb_buf *out, const pkb_problem *problem);

/* Appends the shape, "(M, N)"; nothing for a scalar. */
void pkb_header_shape(pkb_buf *out, const pkb_problem_argument *argument);

#endif
