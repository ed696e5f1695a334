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
#include "evaluator/console/text_row.h"
#include "evaluator/problem/problem.h"
#include "evaluator/problem/selection.h"
#include "evaluator/verbs/verb.h"

typedef struct problems_options {
    const char *list; /* NULL = all */
    bool wants_json;
} problems_options;

enum { KEY_JSON = 0x100, NUMBER_COLUMNS = 4 };

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    problems_options *options = state->input;

    switch (key) {
    case KEY_JSON:
        options->wants_json = true;
        return 0;
    case ARGP_KEY_ARG:
        if (options->list != NULL)
            argp_error(state, "one list at a time, with commas: %s,%s", options->list, value);
        options->list = value;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* The chosen problems, and how wide their columns are. */
typedef struct chosen {
    pkb_problem **items;
    size_t count;
    int name_columns, category_columns;
} chosen;

static int widest(int columns, const char *text)
{
    const int length = (int)strlen(text);
    return length > columns ? length : columns;
}

/* Without the number and the '_' behind it. */
static const char *short_name(const pkb_problem *problem)
{
    return problem->full_name + 4;
}

static pkb_code load(chosen *out, const pkb_catalogue *catalogue, const char *list, pkb_error *err)
{
    bool *is_wanted = calloc(catalogue->count + 1, sizeof *is_wanted);
    pkb_code rc = PKB_OK;

    out->items = calloc(catalogue->count + 1, sizeof(pkb_problem *));
    if (is_wanted == NULL || out->items == NULL) {
        free(is_wanted);
        return pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for the problems");
    }
    rc = pkb_selection_parse(is_wanted, catalogue, list != NULL ? list : "all", err);
    for (size_t i = 0; i < catalogue->count && rc == PKB_OK; i++) {
        pkb_problem *problem = NULL;
        if (!is_wanted[i])
            continue;
        rc = pkb_problem_load(&problem, catalogue, catalogue->names[i], err);
        if (rc != PKB_OK || problem == NULL)
            break;
        out->items[out->count++] = problem;
        out->name_columns = widest(out->name_columns, short_name(problem));
        out->category_columns = widest(out->category_columns, problem->category);
    }
    free(is_wanted);
    return rc;
}

static void clear(chosen *problems)
{
    for (size_t i = 0; i < problems->count; i++)
        pkb_problem_free(problems->items[i]);
    free(problems->items);
}

static void print_line(const chosen *problems, const pkb_problem *problem)
{
    pkb_text_row row = {.out = stdout};

    fputs(pkb_terminal_start(stdout, PKB_STYLE_BOLD), stdout);
    pkb_text_row_right(&row, NUMBER_COLUMNS, "%d", pkb_catalogue_number(problem->full_name));
    fputs(pkb_terminal_end(stdout), stdout);
    pkb_text_row_left(&row, problems->name_columns, "%s", short_name(problem));
    pkb_text_row_left(&row, problems->category_columns, "%s", problem->category);
    pkb_text_row_left(&row, 0, "%s", problem->title);
    pkb_text_row_end(&row);
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
        .options = table,
        .parser = parse_option,
        .args_doc = "[LIST]",
        .doc = "Lists the problems, or those of a list of numbers, ranges, names and categories "
               "(1-20,tensor)."};
    problems_options options = {0};
    pkb_catalogue catalogue = {0};
    chosen problems = {0};
    char *root = NULL;

    (void)status;
    pkb_arguments_parse(&argp, argc, argv, &options);
    pkb_code rc = pkb_fs_root(&root, err);
    if (rc == PKB_OK)
        rc = pkb_catalogue_open(&catalogue, root, err);
    if (rc == PKB_OK)
        rc = load(&problems, &catalogue, options.list, err);
    for (size_t i = 0; i < problems.count && rc == PKB_OK; i++)
        if (options.wants_json)
            print_json(problems.items[i]);
        else
            print_line(&problems, problems.items[i]);
    if (rc == PKB_OK)
        rc = pkb_output_flush(err);
    clear(&problems);
    pkb_catalogue_clear(&catalogue);
    free(root);
    return rc;
}
