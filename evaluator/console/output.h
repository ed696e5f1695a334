/* SPDX-License-Identifier: Apache-2.0
 *
 * Data on standard output, where a full disk or a closed pipe must not pass for success.
 */
#ifndef PKB_EVALUATOR_OUTPUT_H
#define PKB_EVALUATOR_OUTPUT_H

#include <cjson/cJSON.h>

#include "base/error.h"

/* Prints a value as one line. */
pkb_code pkb_output_json(const cJSON *value, pkb_error *err);
/* Whether everything printed so far reached standard output. */
pkb_code pkb_output_flush(pkb_error *err);

#endif
