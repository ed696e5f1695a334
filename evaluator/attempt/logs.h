/* SPDX-License-Identifier: Apache-2.0
 *
 * Logs of a run: what was said about an attempt that is not CORRECT, in logs/<judgement>/ of the
 * run's folder (docs/runs.md).
 */
#ifndef PKB_EVALUATOR_LOGS_H
#define PKB_EVALUATOR_LOGS_H

#include "evaluator/attempt/evaluation.h"

/* PKB_ERR_USAGE: `logs` leads out of the folder, or is no directory. */
pkb_code pkb_logs_check(const char *folder, pkb_error *err);
/* Writes what compilers and ranks said, as long as the ranks have it, and takes away what an
 * earlier try with the same judgement left. Does nothing without setting->logs_in. */
pkb_code pkb_logs_write(const pkb_evaluation *evaluation, const pkb_ranks *ranks, pkb_error *err);

#endif
