/* SPDX-License-Identifier: Apache-2.0
 *
 * pkbench show: a problem, explained.
 */
#include <stdio.h>

#include "base/json.h"
#include "evaluator/console/arguments.h"
#include "evaluator/console/output.h"
#include "evaluator/problem/choice.h"
#include "evaluator/problem/explain.h"
#include "evaluator/verbs/verb.h"

typedef struct show_options {
    const char *problem;
    bool wants_json;
} show_options;

enum { KEY_JSON = 0x100 };

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    show_options *options = state->input;
    if (key == KEY_JSON) {
        options->wants_json = true;
        return 0;
    }
    return pkb_choice_parse(&options->problem, "show", key, value, state);
}

static pkb_code print_json(const pkb_problem *problem, pkb_error *err)
{
    char *text = pkb_json_line(problem->json);
    if (text == NULL)
        return pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for %s", problem->full_name);
    puts(text);
    cJSON_free(text);
    return PKB_OK;
}

pkb_code pkb_verb_show(int argc, char **argv, int *status, pkb_error *err)
{
    static const struct argp_option table[] = {
        {"json", KEY_JSON, 0, 0, "print the problem's file in one line", 0}, {0}};
    static const struct argp argp = {
        .options = table,
        .parser = parse_option,
        .args_doc = "PROBLEM",
        .doc = "Explains a problem, named by number or name: statement, arguments, sizes, checks, "
               "what differs from the published one, cost."};
    show_options options = {0};
    pkb_choice choice = {0};
    pkb_buf text = {0};

    (void)status;
    pkb_arguments_parse(&argp, argc, argv, &options);
    pkb_code rc = pkb_choice_open(&choice, options.problem, err);
    if (rc == PKB_OK && options.wants_json) {
        rc = print_json(choice.problem, err);
    } else if (rc == PKB_OK) {
        pkb_explain_problem(&text, choice.problem);
        rc = pkb_buf_check(&text, "the explanation", err);
        fputs(pkb_buf_text(&text), stdout);
    }
    if (rc == PKB_OK)
        rc = pkb_output_flush(err);
    pkb_buf_clear(&text);
    pkb_choice_clear(&choice);
    return rc;
}
