/* SPDX-License-Identifier: Apache-2.0
 *
 * What became of the attempts on their way to being fast.
 */
#ifndef PKB_EVALUATOR_REPORT_FUNNEL_H
#define PKB_EVALUATOR_REPORT_FUNNEL_H

#include <cjson/cJSON.h>

#include "base/error.h"
#include "evaluator/score/score.h"

/* [{"stage": "asked", "count", "lost": {"NO_CODE": 3}}, ...]: what was lost on the way there from
 * the stage before. Without times there is no "fast". */
pkb_code pkb_funnel_json(cJSON **out, const pkb_score *score, pkb_error *err);

#endif
