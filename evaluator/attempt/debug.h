/* SPDX-License-Identifier: Apache-2.0
 *
 * `pkbench eval --debug RANK`: one rank's cell under NVIDIA's compute-sanitizer, for a person who
 * looks for a fault. Without sandbox and clock: what comes of it is never a score.
 */
#ifndef PKB_EVALUATOR_DEBUG_H
#define PKB_EVALUATOR_DEBUG_H

#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"
#include "evaluator/attempt/options.h"
#include "evaluator/machine/tool.h"
#include "evaluator/machine/workdir.h"

/* In the work directory: what the tool says of all sizes. */
#define PKB_DEBUG_NAME "debug.txt"
/* Everything takes this many times longer. */
enum { PKB_DEBUG_SLOWER = 20 };

/* PKB_ERR_USAGE where the options do not go together; turns the clock off and makes the limits of
 * time longer. */
pkb_code pkb_debug_check(pkb_eval_options *options, bool is_cuda, pkb_error *err);
/* compute-sanitizer beside nvcc or in PATH; the caller frees. PKB_ERR_MISSING with the remedy. */
pkb_code pkb_debug_find(char **program, const pkb_toolbox *tools, pkb_error *err);
/* What a user should know beforehand. */
void pkb_debug_warn(FILE *to, const pkb_eval_options *options);
/* What the tool said, without control characters; the rest of a long text is in `keep`. */
void pkb_debug_print(FILE *to, const pkb_workdir *workdir, const char *keep);

#endif
