/* SPDX-License-Identifier: Apache-2.0
 *
 * pkbench prompt: what a model would be asked.
 */
#include <stdio.h>

#include "evaluator/prompt.h"
#include "evaluator/verb.h"

typedef struct prompt_options {
    const char *problem;
    bool wants_json;
} prompt_options;

enum { KEY_JSON = 0x100 };

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    prompt_options *options = state->input;
    if (key == KEY_JSON) {
        options->wants_json = true;
        return 0;
    }
    return pkb_choice_parse(&options->problem, "prompt", key, value, state);
}

pkb_code pkb_verb_prompt(int argc, char **argv, int *status, pkb_error *err)
{
    static const struct argp_option table[] = {
        {"json", KEY_JSON, 0, 0, "print {problem, messages, prompt_sha256} in one line", 0}, {0}};
    static const struct argp argp = {
        .options = table,
        .parser = parse_option,
        .args_doc = "PROBLEM",
        .doc = "Prints what a model would be asked about a problem: the same text each time."};
    prompt_options options = {0};
    pkb_choice choice = {0};
    pkb_buf prompt = {0}, line = {0};

    (void)status;
    pkb_verb_parse(&argp, argc, argv, &options);
    pkb_code rc = pkb_choice_open(&choice, options.problem, err);
    if (rc == PKB_OK)
        rc = pkb_prompt_write(&prompt, &choice, err);
    if (rc == PKB_OK && options.wants_json)
        rc = pkb_prompt_json(&line, choice.problem->full_name, &prompt, err);
    if (rc == PKB_OK) {
        fputs(pkb_buf_text(options.wants_json ? &line : &prompt), stdout);
        rc = pkb_verb_flush(err);
    }
    pkb_buf_clear(&prompt);
    pkb_buf_clear(&line);
    pkb_choice_clear(&choice);
    return rc;
}
