/* SPDX-License-Identifier: Apache-2.0
 *
 * What a leaderboard shows of a run: one line of JSON (results/leaderboard.schema.json).
 */
#ifndef PKB_EVALUATOR_LEADERBOARD_H
#define PKB_EVALUATOR_LEADERBOARD_H

#include <stdio.h>

#include "base/error.h"
#include "evaluator/score/score.h"

/* Appends the line of a run; `out` is looked at when it is closed. */
pkb_code pkb_leaderboard_add(FILE *out, const pkb_score *score, pkb_error *err);

#endif
