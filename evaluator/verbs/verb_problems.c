/* SPDX-License-Identifier: Apache-2.0
 *
 * pkbench problems: the list.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/json.h"
#include "evaluator/console/arguments.h"
#include "evaluator/console/output.h"
#include "evaluator/console/terminal.h"
#include "evaluator/problem/problem.h"
#include "evaluator/verbs/verb.h"

typedef struct problems_options {
    bool wants_json;
} problems_options;

enum { KEY_JSON = 0x100 };

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    problems_options *options = state->input;
    if (key == KEY_JSON)
        options->wants_json = true;
    else if (key == ARGP_KEY_ARG)
        argp_error(state, "lists all problems and takes no '%s'; pkbench show %s explains one",
                   value, value);
    else
        return ARGP_ERR_UNKNOWN;
    return 0;
}

static void print_line(const pkb_problem *problem)
{
    printf("%s%4d%s  %-28s  %-14s  %s\n", pkb_terminal_start(stdout, PKB_STYLE_BOLD),
           pkb_catalogue_number(problem->full_name), pkb_terminal_end(stdout),
           problem->full_name + 4, problem->category, problem->title);
}

static void print_json(const pkb_problem *problem)
{
    static const char *const keys[] = {"id", "name", "title", "category", "collectives", "grid"};
    cJSON *line = cJSON_CreateObject();
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        const cJSON *value = cJSON_GetObjectItemCaseSensitive(problem->json, keys[i]);
        if (value != NULL)
            cJSON_AddItemToObject(line, keys[i], cJSON_Duplicate(value, true));
    }
    char *text = pkb_json_line(line);
    puts(text != NULL ? text : "");
    cJSON_free(text);
    cJSON_Delete(line);
}

pkb_code pkb_verb_problems(int argc, char **argv, int *status, pkb_error *err)
{
    static const struct argp_option table[] = {
        {"json", KEY_JSON, 0, 0, "one JSON object a line", 0}, {0}};
    static const struct argp argp = {
        .options = table, .parser = parse_option, .doc = "Lists the problems."};
    problems_options options = {0};
    pkb_catalogue catalogue = {0};
    char *root = NULL;

    (void)status;
    pkb_arguments_parse(&argp, argc, argv, &options);
    pkb_code rc = pkb_fs_root(&root, err);
    if (rc == PKB_OK)
        rc = pkb_catalogue_open(&catalogue, root, err);
    for (size_t i = 0; i < catalogue.count && rc == PKB_OK; i++) {
        pkb_problem *problem = NULL;
        rc = pkb_problem_load(&problem, &catalogue, catalogue.names[i], err);
        if (rc != PKB_OK)
            break;
        if (options.wants_json)
            print_json(problem);
        else
            print_line(problem);
        pkb_problem_free(problem);
    }
    if (rc == PKB_OK)
        rc = pkb_output_flush(err);
    pkb_catalogue_clear(&catalogue);
    free(root);
    return rc;
}
