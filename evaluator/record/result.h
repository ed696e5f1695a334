/* SPDX-License-Identifier: Apache-2.0
 *
 * A record for a person: verdict, reason, a line per size, where the time went.
 */
#ifndef PKB_EVALUATOR_RESULT_H
#define PKB_EVALUATOR_RESULT_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdio.h>

typedef struct pkb_result_notes {
    bool was_cached;     /* compiling was looked up */
    const char *printed; /* lines that the attempt printed; "" = none */
    int printed_rank;
} pkb_result_notes;

void pkb_result_print(FILE *out, const cJSON *record, const pkb_result_notes *notes);

#endif
