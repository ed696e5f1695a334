/* SPDX-License-Identifier: Apache-2.0
 *
 * pkbench export: runs as tables for those who go on elsewhere.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evaluator/console/arguments.h"
#include "evaluator/console/interrupt.h"
#include "evaluator/console/output.h"
#include "evaluator/console/terminal.h"
#include "evaluator/export/leaderboard.h"
#include "evaluator/export/table.h"
#include "evaluator/export/target.h"
#include "evaluator/run/run.h"
#include "evaluator/verbs/scored.h"
#include "evaluator/verbs/verb.h"

enum { KEY_CSV = PKB_SCORE_KEY_OWN, KEY_PARQUET, KEY_LEADERBOARD, KEY_ROWS, KEY_COLUMNS };

typedef struct export_options {
    pkb_score_options shared;
    const char *path;
    int form; /* KEY_CSV, KEY_PARQUET or KEY_LEADERBOARD; 0 = none yet */
    pkb_rows rows;
    bool has_rows, wants_columns;
} export_options;

static void parse_form(export_options *options, int key, const char *value,
                       struct argp_state *state)
{
    if (options->form != 0)
        argp_error(state, "one of --csv, --parquet and --leaderboard at a time");
    if (value[0] == '\0')
        argp_error(state, "the name of the file is empty");
    options->form = key;
    options->path = value;
}

static void parse_rows(export_options *options, const char *value, struct argp_state *state)
{
    options->has_rows = true;
    for (int i = 0; i < PKB_ROWS_COUNT; i++)
        if (strcmp(value, pkb_rows_name((pkb_rows)i)) == 0) {
            options->rows = (pkb_rows)i;
            return;
        }
    argp_error(state, "--rows takes attempts, sizes or batches, not '%s'", value);
}

static void check(const export_options *options, struct argp_state *state)
{
    if (options->wants_columns)
        return;
    if (options->shared.path_count == 0)
        argp_error(state, "name a run: a folder that pkbench eval judged, or a file of records");
    if (options->form == 0)
        argp_error(state, "name what to write: --csv, --parquet or --leaderboard FILE");
    if (options->form == KEY_LEADERBOARD && options->has_rows)
        argp_error(state, "--leaderboard has an object a run; --rows is for tables");
}

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    export_options *options = state->input;

    switch (key) {
    case KEY_CSV:
    case KEY_PARQUET:
    case KEY_LEADERBOARD:
        parse_form(options, key, value, state);
        return 0;
    case KEY_ROWS:
        parse_rows(options, value, state);
        return 0;
    case KEY_COLUMNS:
        options->wants_columns = true;
        return 0;
    case ARGP_KEY_END:
        check(options, state);
        return 0;
    default:
        return pkb_score_options_parse(&options->shared, key, value, state);
    }
}

/* ---- columns ---- */

static pkb_code print_columns(pkb_rows rows, pkb_error *err)
{
    for (size_t i = 0; i < pkb_column_count(rows); i++) {
        const pkb_column *column = pkb_column_at(rows, i);
        printf("%-16s  %-8s  %s\n", column->name, pkb_cell_type_name(column->type), column->what);
    }
    return pkb_output_flush(err);
}

/* ---- one run after another ---- */

typedef struct exporter {
    const export_options *options;
    pkb_catalogue catalogue;
    pkb_toolbox tools;
    pkb_target target;
    pkb_table table;
    size_t run_count; /* that were written */
    bool is_complete;
} exporter;

static pkb_code add_run(exporter *e, size_t first, pkb_error *err)
{
    pkb_scored scored = {0};
    const pkb_runset *runset = &scored.runset;
    const pkb_score *score = &scored.score;

    pkb_code rc = pkb_scored_read(&scored, &e->options->shared, &e->catalogue, first, err);
    if (rc == PKB_OK)
        rc = pkb_target_check(&e->target, runset, err);
    if (rc == PKB_OK)
        rc = e->options->form == KEY_LEADERBOARD ? pkb_leaderboard_add(e->target.out, score, err)
                                                 : pkb_table_add(&e->table, score, err);
    if (rc == PKB_OK)
        e->run_count++;
    if (rc == PKB_OK && !score->is_complete) {
        e->is_complete = false;
        fputs("note: ", stderr);
        pkb_terminal_put(runset->name);
        fprintf(stderr,
                " is incomplete: %zu attempts without a record, %zu pending, %zu lines that are "
                "no record\n",
                score->all.missing, score->all.pending, runset->broken_count);
    }
    pkb_scored_clear(&scored);
    return rc;
}

static pkb_code open_target(exporter *e, pkb_error *err)
{
    static const pkb_tool_id needed[] = {PKB_TOOL_PYTHON};
    const export_options *options = e->options;

    if (options->form != KEY_PARQUET)
        return pkb_target_open(&e->target, options->path, err);
    pkb_code rc = pkb_toolbox_require(&e->tools, needed, 1, err);
    if (rc == PKB_OK)
        rc = pkb_target_open_parquet(&e->target, options->path, options->rows, &e->tools, err);
    return rc;
}

static pkb_code write_runs(exporter *e, pkb_error *err)
{
    const export_options *options = e->options;
    pkb_code rc = open_target(e, err);

    if (rc != PKB_OK)
        return rc;
    e->table = (pkb_table){
        .out = e->target.out, .rows = options->rows, .is_guarded = options->form == KEY_CSV};
    if (options->form != KEY_LEADERBOARD)
        pkb_table_head(&e->table);
    for (size_t i = 0; i < options->shared.path_count && rc == PKB_OK;
         i += pkb_scored_step(&options->shared))
        rc = add_run(e, i, err);
    return pkb_target_finish(&e->target, rc, err);
}

static void tell_written(const exporter *e)
{
    const bool is_leaderboard = e->options->form == KEY_LEADERBOARD;
    const size_t count = is_leaderboard ? e->run_count : e->table.row_count;

    fprintf(stderr, "wrote %zu %s%s to ", count, is_leaderboard ? "line" : "row",
            count == 1 ? "" : "s");
    pkb_terminal_put(e->options->path);
    fputc('\n', stderr);
}

static pkb_code run(const export_options *options, int *status, pkb_error *err)
{
    exporter e = {.options = options, .target = PKB_TARGET_NONE, .is_complete = true};
    char *root = NULL;

    if (options->wants_columns)
        return print_columns(options->rows, err);
    if (strcmp(options->path, "-") != 0)
        pkb_interrupt_install(); /* there is a half file to remove */
    pkb_code rc = pkb_fs_root(&root, err);
    if (rc == PKB_OK && options->form == KEY_PARQUET)
        rc = pkb_toolbox_open(&e.tools, err);
    if (rc == PKB_OK)
        rc = pkb_catalogue_open(&e.catalogue, root, err);
    if (rc == PKB_OK)
        rc = write_runs(&e, err);
    if (rc == PKB_OK && strcmp(options->path, "-") != 0)
        tell_written(&e);
    if (rc == PKB_OK && !e.is_complete)
        *status = PKB_EXIT_INCOMPLETE;
    pkb_table_clear(&e.table);
    pkb_target_clear(&e.target);
    pkb_catalogue_clear(&e.catalogue);
    pkb_toolbox_clear(&e.tools);
    free(root);
    return rc;
}

pkb_code pkb_verb_export(int argc, char **argv, int *status, pkb_error *err)
{
    static const struct argp_option table[] = {
        {0, 0, 0, 0, "What is written:", 1},
        {"csv", KEY_CSV, "FILE", 0, "a table as comma-separated values; - is standard output", 0},
        {"parquet", KEY_PARQUET, "FILE", 0, "a table as Parquet", 0},
        {"rows", KEY_ROWS, "attempts|sizes|batches", 0, "a row each (default: attempts)", 0},
        {"leaderboard", KEY_LEADERBOARD, "FILE", 0,
         "the numbers of each run, a line of JSON each; - is standard output", 0},
        {"columns", KEY_COLUMNS, 0, 0, "explain the columns of --rows, and write nothing", 0},
        {0, 0, 0, 0, "What is read:", 2},
        PKB_SCORE_SELECTION_ROWS,
        {0}};
    static const struct argp argp = {
        .options = table,
        .parser = parse_option,
        .args_doc = "RUN...",
        .doc = "Writes the records that count as a table for pandas, DuckDB or a spreadsheet, or "
               "the numbers of runs for a leaderboard. A run is what pkbench score takes, read by "
               "the same rules; several go one after the other into one file. Exit status 6: some "
               "attempts have no verdict yet."};
    export_options options = {0};

    pkb_score_options_init(&options.shared);
    pkb_arguments_parse(&argp, argc, argv, &options);
    pkb_code rc = run(&options, status, err);
    pkb_score_options_clear(&options.shared);
    return rc;
}
