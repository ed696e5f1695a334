/* SPDX-License-Identifier: Apache-2.0
 *
 * A record for a person: verdict, reason, a line per size, where the time went.
 */
#ifndef PKB_EVALUATOR_RESULT_H
#define PKB_EVALUATOR_RESULT_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdio.h>

/* `was_cached`: compiling was looked up. */
void pkb_result_print(FILE *out, const cJSON *record, bool was_cached);

#endif
