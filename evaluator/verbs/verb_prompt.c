/* SPDX-License-Identifier: Apache-2.0
 *
 * pkbench prompt: what a model would be asked, about one problem or about many.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/fs.h"
#include "evaluator/console/arguments.h"
#include "evaluator/console/output.h"
#include "evaluator/problem/prompt.h"
#include "evaluator/problem/selection.h"
#include "evaluator/verbs/verb.h"

typedef struct prompt_options {
    const char *problem, *list;
    bool wants_json;
} prompt_options;

enum { KEY_JSON = 0x100, KEY_ALL, KEY_PROBLEMS };

static void check(const prompt_options *options, struct argp_state *state)
{
    if (options->problem != NULL && options->list != NULL)
        argp_error(state, "either PROBLEM or --problems (--all), not both");
    if (options->list != NULL && !options->wants_json)
        argp_error(state, "many prompts are printed a line each: add --jsonl");
}

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    prompt_options *options = state->input;

    switch (key) {
    case KEY_JSON:
        options->wants_json = true;
        return 0;
    case KEY_ALL:
        options->list = "all";
        return 0;
    case KEY_PROBLEMS:
        options->list = value;
        return 0;
    case ARGP_KEY_END:
        check(options, state);
        if (options->list != NULL)
            return 0;
        break;
    default:
        break;
    }
    return pkb_choice_parse(&options->problem, "prompt", key, value, state);
}

static pkb_code print_prompt(const pkb_choice *choice, const char *name, bool wants_json,
                             pkb_error *err)
{
    pkb_buf prompt = {0}, line = {0};

    pkb_code rc = pkb_prompt_write(&prompt, choice, err);
    if (rc == PKB_OK && wants_json)
        rc = pkb_prompt_json(&line, name, &prompt, err);
    if (rc == PKB_OK) {
        fputs(pkb_buf_text(wants_json ? &line : &prompt), stdout);
        rc = pkb_output_flush(err);
    }
    pkb_buf_clear(&prompt);
    pkb_buf_clear(&line);
    return rc;
}

static pkb_code print_one(const prompt_options *options, pkb_error *err)
{
    pkb_choice choice = {0};

    pkb_code rc = pkb_choice_open(&choice, options->problem, err);
    if (rc == PKB_OK)
        rc = print_prompt(&choice, choice.problem->full_name, options->wants_json, err);
    pkb_choice_clear(&choice);
    return rc;
}

static pkb_code print_wanted(pkb_choice *choice, const bool *is_wanted, pkb_error *err)
{
    const pkb_catalogue *catalogue = &choice->catalogue;
    pkb_code rc = PKB_OK;

    for (size_t i = 0; i < catalogue->count && rc == PKB_OK; i++) {
        if (!is_wanted[i])
            continue;
        rc = pkb_problem_load(&choice->problem, catalogue, catalogue->names[i], err);
        if (rc == PKB_OK)
            rc = print_prompt(choice, catalogue->names[i], true, err);
        pkb_problem_free(choice->problem);
        choice->problem = NULL;
    }
    return rc;
}

static pkb_code print_list(pkb_choice *choice, const char *list, pkb_error *err)
{
    bool *is_wanted = calloc(choice->catalogue.count + 1, sizeof *is_wanted);

    if (is_wanted == NULL)
        return pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for the list of problems");
    pkb_code rc = pkb_selection_parse(is_wanted, &choice->catalogue, list, err);
    if (rc == PKB_OK)
        rc = print_wanted(choice, is_wanted, err);
    free(is_wanted);
    return rc;
}

static pkb_code print_many(const prompt_options *options, pkb_error *err)
{
    pkb_choice choice = {0};

    pkb_code rc = pkb_fs_root(&choice.root, err);
    if (rc == PKB_OK)
        rc = pkb_catalogue_open(&choice.catalogue, choice.root, err);
    if (rc == PKB_OK)
        rc = print_list(&choice, options->list, err);
    pkb_choice_clear(&choice);
    return rc;
}

pkb_code pkb_verb_prompt(int argc, char **argv, int *status, pkb_error *err)
{
    static const struct argp_option table[] = {
        {"all", KEY_ALL, 0, 0, "about all problems; needs --jsonl", 0},
        {"problems", KEY_PROBLEMS, "LIST", 0,
         "about these, such as 1-20,31,tensor (numbers, ranges, names, categories); needs --jsonl",
         0},
        {"jsonl", KEY_JSON, 0, 0, "print {problem, messages, prompt_sha256}, a line each", 0},
        {"json", KEY_JSON, 0, OPTION_ALIAS, 0, 0},
        {0}};
    static const struct argp argp = {
        .options = table,
        .parser = parse_option,
        .args_doc = "PROBLEM\n--all --jsonl\n--problems LIST --jsonl",
        .doc = "Prints what a model would be asked about a problem: the same text each time. "
               "pkbench import takes the replies."};
    prompt_options options = {0};

    (void)status;
    pkb_arguments_parse(&argp, argc, argv, &options);
    return options.list != NULL ? print_many(&options, err) : print_one(&options, err);
}
