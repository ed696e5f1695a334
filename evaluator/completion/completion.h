/* SPDX-License-Identifier: Apache-2.0
 *
 * One line of a file of completions: {problem, completion, sample?, finish_reason?, model?,
 * prompt_sha256?}. Other keys are left alone.
 */
#ifndef PKB_EVALUATOR_COMPLETION_H
#define PKB_EVALUATOR_COMPLETION_H

#include <cjson/cJSON.h>
#include <stdbool.h>

#include "base/lines.h"
#include "evaluator/attempt/sample_status.h"
#include "evaluator/problem/catalogue.h"

enum { PKB_COMPLETION_LIMIT_BYTES = 8 << 20, PKB_COMPLETION_MOST_SAMPLES = 1000000 };

typedef struct pkb_completion {
    cJSON *line; /* holds the texts of `reply` but the problem, which the catalogue holds */
    pkb_reply reply;
    bool has_sample; /* the line says which */
} pkb_completion;

/* PKB_ERR_FORMAT says what is wrong with the line, without its number. The caller clears. */
pkb_code pkb_completion_parse(pkb_completion *out, const pkb_catalogue *catalogue,
                              const pkb_line *line, pkb_error *err);
void pkb_completion_clear(pkb_completion *completion);

#endif
