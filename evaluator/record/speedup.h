/* SPDX-License-Identifier: Apache-2.0
 *
 * The speed-up of an attempt: the geometric mean over its scored sizes (classes pkb and large).
 */
#ifndef PKB_EVALUATOR_SPEEDUP_H
#define PKB_EVALUATOR_SPEEDUP_H

#include <cjson/cJSON.h>
#include <stdbool.h>

#include "base/stats.h"

/* Does a size of a record count in it, if it was timed? */
bool pkb_speedup_is_scored(const cJSON *size);
/* Against the eager baseline, with the same mean of the intervals' ends. False where there is none:
 * not CORRECT, not timed, no scored size, or the CPU device, whose times are no score. */
bool pkb_speedup_of_record(pkb_interval *out, const cJSON *record);

#endif
