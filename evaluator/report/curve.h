/* SPDX-License-Identifier: Apache-2.0
 *
 * fast_p@k as a function of p.
 */
#ifndef PKB_EVALUATOR_REPORT_CURVE_H
#define PKB_EVALUATOR_REPORT_CURVE_H

#include <cjson/cJSON.h>

#include "base/error.h"
#include "evaluator/score/score.h"

/* Thresholds in even ratios over all speed-ups of the run, and those of the score: {"thresholds",
 * "k": {"1": {"value", "low", "high"}}}. NULL where the score says nothing of speed or no attempt
 * has a speed-up; the caller frees. */
pkb_code pkb_curve_json(cJSON **out, const pkb_score *score, pkb_error *err);

#endif
