/* SPDX-License-Identifier: Apache-2.0
 *
 * What a model is asked: the same text for the same problem and version, without paths or dates.
 */
#ifndef PKB_EVALUATOR_PROMPT_H
#define PKB_EVALUATOR_PROMPT_H

#include "base/buf.h"
#include "evaluator/problem/choice.h"

/* Appends the prompt for the chosen problem. Reads its reference, the headers that attempts may
 * include, and one example of another problem. */
pkb_code pkb_prompt_write(pkb_buf *out, const pkb_choice *choice, pkb_error *err);

/* One line: {"problem", "messages": [{"role", "content"}], "prompt_sha256"}. */
pkb_code pkb_prompt_json(pkb_buf *out, const char *problem, const pkb_buf *prompt, pkb_error *err);

#endif
