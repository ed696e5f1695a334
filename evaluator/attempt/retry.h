/* SPDX-License-Identifier: Apache-2.0
 *
 * An attempt of many: what fails for our reasons is tried once more, on fresh ranks.
 */
#ifndef PKB_EVALUATOR_RETRY_H
#define PKB_EVALUATOR_RETRY_H

#include "evaluator/attempt/evaluation.h"

/* Judges what was read, and copies what there is to see where the options say --keep. What fails
 * again is INFRA_ERROR, and the ranks are ended. An error is none of this attempt: it ends the run,
 * or says that the problem does not fit the options (PKB_ERR_USAGE). */
pkb_code pkb_retry_judge(pkb_evaluation *evaluation, pkb_ranks *ranks, pkb_error *err);

#endif
