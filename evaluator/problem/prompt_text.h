/* SPDX-License-Identifier: Apache-2.0
 *
 * The parts of a prompt that are the same for all problems.
 */
#ifndef PKB_EVALUATOR_PROMPT_TEXT_H
#define PKB_EVALUATOR_PROMPT_TEXT_H

extern const char pkb_prompt_task[], pkb_prompt_reference[], pkb_prompt_interface[],
    pkb_prompt_rules[], pkb_prompt_judging[], pkb_prompt_answer[];

#endif
