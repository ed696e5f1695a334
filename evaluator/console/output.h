/* SPDX-License-Identifier: Apache-2.0
 *
 * Data on standard output or in a file, where a full disk or a closed pipe must not pass for
 * success.
 */
#ifndef PKB_EVALUATOR_OUTPUT_H
#define PKB_EVALUATOR_OUTPUT_H

#include <cjson/cJSON.h>
#include <stdio.h>

#include "base/error.h"

/* Prints a value as one line. */
pkb_code pkb_output_json(const cJSON *value, pkb_error *err);
/* Whether everything printed so far reached standard output. */
pkb_code pkb_output_flush(pkb_error *err);
/* The same of any stream; `name` is for messages. */
pkb_code pkb_output_flush_to(FILE *out, const char *name, pkb_error *err);

#endif
