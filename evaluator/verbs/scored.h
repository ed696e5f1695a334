/* SPDX-License-Identifier: Apache-2.0
 *
 * A run that was named on a command line, with its score.
 */
#ifndef PKB_EVALUATOR_SCORED_H
#define PKB_EVALUATOR_SCORED_H

#include <stddef.h>

#include "base/error.h"
#include "evaluator/problem/catalogue.h"
#include "evaluator/score/runset.h"
#include "evaluator/score/score.h"
#include "evaluator/verbs/score_options.h"

/* Must not move in memory: the score points to the runset. */
typedef struct pkb_scored {
    pkb_runset runset;
    pkb_score score;
} pkb_scored;

/* How many of the paths are one run: with --pool all. */
size_t pkb_scored_step(const pkb_score_options *options);
/* The run of the paths from `first` on. Its notes are printed on standard error. The caller clears
 * in any case. */
pkb_code pkb_scored_read(pkb_scored *out, const pkb_score_options *options,
                         const pkb_catalogue *catalogue, size_t first, pkb_error *err);
void pkb_scored_clear(pkb_scored *scored);

#endif
