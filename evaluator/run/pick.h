/* SPDX-License-Identifier: Apache-2.0
 *
 * Which attempts of a folder a call judges: by problem, number and shard.
 */
#ifndef PKB_EVALUATOR_PICK_H
#define PKB_EVALUATOR_PICK_H

#include "evaluator/attempt/options.h"
#include "evaluator/attempt/samples.h"

/* Keeps those that the options mean; a shard is one of what the others leave, and may be empty.
 * PKB_ERR_USAGE: bad options, or no attempt is meant. */
pkb_code pkb_pick_samples(pkb_samples *samples, const pkb_eval_options *options,
                          const pkb_catalogue *catalogue, pkb_error *err);

#endif
