/* SPDX-License-Identifier: Apache-2.0
 *
 * The attempt that `pkbench new` writes: it compiles, launches one kernel and says what to fill in.
 */
#ifndef PKB_EVALUATOR_SKELETON_H
#define PKB_EVALUATOR_SKELETON_H

#include "base/buf.h"
#include "evaluator/problem/problem.h"

void pkb_skeleton_write(pkb_buf *out, const pkb_problem *problem);

#endif
