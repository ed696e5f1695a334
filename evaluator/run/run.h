/* SPDX-License-Identifier: Apache-2.0
 *
 * A run: a folder of attempts, judged one after another on ranks that live from the first to the
 * last, with a record each (docs/runs.md).
 */
#ifndef PKB_EVALUATOR_RUN_H
#define PKB_EVALUATOR_RUN_H

#include "base/error.h"
#include "evaluator/attempt/setting.h"

enum { PKB_EXIT_INCOMPLETE = 6 };

/* Judges the folder that the options name and prints what comes out. `*status` is 0, or
 * PKB_EXIT_INCOMPLETE where attempts have no verdict yet. The words of the command line are for the
 * hint how to go on after an interrupt. */
pkb_code pkb_run_folder(pkb_setting *setting, int argc, char **argv, int *status, pkb_error *err);

#endif
