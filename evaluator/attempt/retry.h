/* SPDX-License-Identifier: Apache-2.0
 *
 * An attempt of many: what fails for our reasons is tried again, on fresh ranks, and where that is
 * the attempt's own doing it is told from a failure of ours.
 */
#ifndef PKB_EVALUATOR_RETRY_H
#define PKB_EVALUATOR_RETRY_H

#include "evaluator/attempt/evaluation.h"

/* Judges what was read, and copies what there is to see where the options say --keep.
 *
 * Ranks that fail before they have the attempt are started once more. If they fail with it, the
 * problem's example is judged on fresh ones and then the attempt again: where the example passes
 * and the ranks fail with the attempt once more, its verdict is RESOURCE_LIMIT, if they ran out of
 * something, or CRASH. All else that fails again is INFRA_ERROR, and the ranks are ended. Where
 * something killed a cell, at whatever size, nothing counts before it happens again. An error is
 * none of this attempt: it ends the run, or says that the problem does not fit the options
 * (PKB_ERR_USAGE). */
pkb_code pkb_retry_judge(pkb_evaluation *evaluation, pkb_ranks *ranks, pkb_error *err);

#endif
