/* SPDX-License-Identifier: Apache-2.0
 *
 * What a run would do, without doing any of it: attempts by problem, and how long they take.
 */
#ifndef PKB_EVALUATOR_DRY_RUN_H
#define PKB_EVALUATOR_DRY_RUN_H

#include "evaluator/run/run_state.h"

/* Prints it on standard output, as a table or, where the options say so, as JSON. */
pkb_code pkb_dry_run(pkb_run *run, pkb_error *err);

#endif
