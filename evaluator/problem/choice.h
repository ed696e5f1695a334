/* SPDX-License-Identifier: Apache-2.0
 *
 * What the verbs about one problem (show, prompt, new) have in common: the problem named on the
 * command line.
 */
#ifndef PKB_EVALUATOR_CHOICE_H
#define PKB_EVALUATOR_CHOICE_H

#include <argp.h>

#include "evaluator/problem/catalogue.h"
#include "evaluator/problem/problem.h"

typedef struct pkb_choice {
    char *root;
    pkb_catalogue catalogue;
    pkb_problem *problem;
} pkb_choice;

/* argp's keys for the one argument PROBLEM, kept in `*word`; `verb` is for the message. */
error_t pkb_choice_parse(const char **word, const char *verb, int key, char *value,
                         struct argp_state *state);

/* Finds and loads the problem that `word` names. */
pkb_code pkb_choice_open(pkb_choice *out, const char *word, pkb_error *err);
void pkb_choice_clear(pkb_choice *choice);

#endif
