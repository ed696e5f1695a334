/* SPDX-License-Identifier: Apache-2.0
 *
 * Whose attempts a runset holds.
 */
#ifndef PKB_EVALUATOR_RUNSET_MODELS_H
#define PKB_EVALUATOR_RUNSET_MODELS_H

#include <cjson/cJSON.h>

#include "base/error.h"
#include "evaluator/score/runset.h"

/* Appends to the array `models` the names that samples' <k>.json and "models" of run.json say, each
 * once, 64 at most. PKB_ERR_USAGE: "models" is no list of names. */
pkb_code pkb_runset_models(cJSON *models, const pkb_runset *runset, pkb_error *err);

#endif
