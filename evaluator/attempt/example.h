/* SPDX-License-Identifier: Apache-2.0
 *
 * A problem's own example as the control: are the ranks well, or was it the attempt?
 */
#ifndef PKB_EVALUATOR_EXAMPLE_H
#define PKB_EVALUATOR_EXAMPLE_H

#include "evaluator/attempt/evaluation.h"

/* Judges the example with the options of an attempt that broke its ranks. `*control` is what the
 * attempt's record says of it (freed by the caller); NULL where there is no example. */
pkb_code pkb_example_judge(cJSON **control, const pkb_evaluation *broken, pkb_ranks *ranks,
                           pkb_error *err);
bool pkb_example_has_passed(const cJSON *control);

#endif
