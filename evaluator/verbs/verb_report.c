/* SPDX-License-Identifier: Apache-2.0
 *
 * pkbench report: one HTML page about runs.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/fs.h"
#include "evaluator/console/arguments.h"
#include "evaluator/console/terminal.h"
#include "evaluator/report/report.h"
#include "evaluator/run/run.h"
#include "evaluator/verbs/scored.h"
#include "evaluator/verbs/verb.h"

enum { KEY_OUT = 'o', KEY_EMBED = PKB_SCORE_KEY_OWN, KEY_CEILINGS };

typedef struct report_options {
    pkb_score_options shared;
    const char *path, *ceilings;
    bool embeds_sources;
} report_options;

/* The runs of a report, each with its score. */
typedef struct report_runs {
    pkb_scored scored[PKB_REPORT_MOST_RUNS];
    const pkb_score *list[PKB_REPORT_MOST_RUNS];
    size_t count;
} report_runs;

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    report_options *options = state->input;
    const pkb_score_options *shared = &options->shared;

    switch (key) {
    case KEY_OUT:
        options->path = value;
        return 0;
    case KEY_EMBED:
        options->embeds_sources = true;
        return 0;
    case KEY_CEILINGS:
        options->ceilings = value;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "name a run: a folder that pkbench eval judged, or a file of records");
        return 0;
    case ARGP_KEY_END:
        if (!shared->runset.pools && shared->path_count > PKB_REPORT_MOST_RUNS)
            argp_error(state, "a report holds %d runs at most, and these are %zu",
                       PKB_REPORT_MOST_RUNS, shared->path_count);
        return 0;
    default:
        return pkb_score_options_parse(&options->shared, key, value, state);
    }
}

static pkb_code read_runs(report_runs *runs, const report_options *options,
                          const pkb_catalogue *catalogue, int *status, pkb_error *err)
{
    const pkb_score_options *shared = &options->shared;
    pkb_code rc = PKB_OK;

    for (size_t i = 0; i < shared->path_count && rc == PKB_OK; i += pkb_scored_step(shared)) {
        pkb_scored *scored = &runs->scored[runs->count];
        runs->list[runs->count++] = &scored->score;
        rc = pkb_scored_read(scored, shared, catalogue, i, err);
        if (rc == PKB_OK && pkb_runset_has_file(&scored->runset, options->path))
            rc = pkb_error_set(err, PKB_ERR_USAGE, 0,
                               "%s is a file of the run: name another one for the page",
                               options->path);
        if (rc == PKB_OK && !scored->score.is_complete)
            *status = PKB_EXIT_INCOMPLETE;
    }
    return rc;
}

static pkb_code write_report(const report_options *options, const pkb_catalogue *catalogue,
                             const char *root, int *status, pkb_error *err)
{
    pkb_toolbox tools = {0};
    pkb_buf notes = {0};
    const pkb_report_options page = {.root = root,
                                     .ceilings = options->ceilings,
                                     .tools = &tools,
                                     .catalogue = catalogue,
                                     .path = options->path,
                                     .embeds_sources = options->embeds_sources,
                                     .mixes = options->shared.runset.mixes,
                                     .notes = &notes};
    report_runs *runs = calloc(1, sizeof *runs);
    size_t bytes = 0;

    if (runs == NULL)
        return pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for the report");
    pkb_code rc = read_runs(runs, options, catalogue, status, err);
    if (rc == PKB_OK && options->ceilings != NULL)
        rc = pkb_toolbox_open(&tools, err);
    if (rc == PKB_OK)
        rc = pkb_report_write(&page, runs->list, runs->count, &bytes, err);
    fputs(pkb_buf_text(&notes), stderr);
    if (rc == PKB_OK) {
        fputs("wrote ", stderr);
        pkb_terminal_put(options->path);
        fprintf(stderr, " (%.1f MiB)\n", (double)bytes / (1 << 20));
    }
    for (size_t i = 0; i < runs->count; i++)
        pkb_scored_clear(&runs->scored[i]);
    free(runs);
    pkb_buf_clear(&notes);
    pkb_toolbox_clear(&tools);
    return rc;
}

pkb_code pkb_verb_report(int argc, char **argv, int *status, pkb_error *err)
{
    static const struct argp_option table[] = {
        PKB_SCORE_SELECTION_ROWS,
        {"output", KEY_OUT, "FILE", 0, "the page to write (default report.html)", 0},
        {"embed-source", KEY_EMBED, 0, 0, "put the sources into the page, for small runs", 0},
        {"ceilings", KEY_CEILINGS, "FILE", 0,
         "what the machine can do at best, to show how near attempts come (docs/report.md)", 0},
        {0}};
    static const struct argp argp = {
        .options = table,
        .parser = parse_option,
        .args_doc = "RUN...",
        .doc = "Writes one HTML page about runs: scores with their intervals, curves, every "
               "attempt with its reason, and comparisons where there are several runs. It needs no "
               "network; links lead to sources and logs in the runs' folders. Exit status 6: some "
               "attempts have no verdict yet."};
    report_options options = {.path = "report.html"};
    pkb_catalogue catalogue = {0};
    char *root = NULL;

    pkb_score_options_init(&options.shared);
    pkb_arguments_parse(&argp, argc, argv, &options);
    pkb_code rc = pkb_fs_root(&root, err);
    if (rc == PKB_OK)
        rc = pkb_catalogue_open(&catalogue, root, err);
    if (rc == PKB_OK)
        rc = write_report(&options, &catalogue, root, status, err);
    pkb_catalogue_clear(&catalogue);
    free(root);
    pkb_score_options_clear(&options.shared);
    return rc;
}
