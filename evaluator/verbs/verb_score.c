/* SPDX-License-Identifier: Apache-2.0
 *
 * pkbench score: the numbers of runs.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/fs.h"
#include "evaluator/console/arguments.h"
#include "evaluator/console/output.h"
#include "evaluator/run/run.h"
#include "evaluator/score/score_print.h"
#include "evaluator/verbs/scored.h"
#include "evaluator/verbs/verb.h"

enum { KEY_CSV = PKB_SCORE_KEY_OWN, KEY_BY_PROBLEM };

typedef struct score_options {
    pkb_score_options shared;
    bool wants_csv, by_problem;
} score_options;

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    score_options *options = state->input;

    switch (key) {
    case KEY_CSV:
        options->wants_csv = true;
        return 0;
    case KEY_BY_PROBLEM:
        options->by_problem = true;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "name a run: a folder that pkbench eval judged, or a file of records");
        return 0;
    case ARGP_KEY_END:
        if (options->wants_csv && options->shared.wants_json)
            argp_error(state, "--json and --csv exclude each other");
        return 0;
    default:
        return pkb_score_options_parse(&options->shared, key, value, state);
    }
}

static pkb_code print(const pkb_score *score, const score_options *options, bool is_first,
                      pkb_error *err)
{
    cJSON *json = NULL;
    pkb_code rc = PKB_OK;

    if (options->shared.wants_json) {
        rc = pkb_score_json(&json, score, err);
        if (rc == PKB_OK)
            rc = pkb_output_json(json, err);
        cJSON_Delete(json);
        return rc;
    }
    if (options->wants_csv) {
        if (is_first)
            pkb_score_csv_head(stdout);
        rc = pkb_score_csv(stdout, score, err);
    } else {
        fputs(is_first ? "" : "\n", stdout);
        pkb_score_text(stdout, score, options->by_problem);
    }
    return rc == PKB_OK ? pkb_output_flush(err) : rc;
}

static pkb_code score_run(const score_options *options, const pkb_catalogue *catalogue,
                          size_t first, int *status, pkb_error *err)
{
    pkb_scored scored = {0};

    pkb_code rc = pkb_scored_read(&scored, &options->shared, catalogue, first, err);
    if (rc == PKB_OK)
        rc = print(&scored.score, options, first == 0, err);
    if (rc == PKB_OK && !scored.score.is_complete)
        *status = PKB_EXIT_INCOMPLETE;
    pkb_scored_clear(&scored);
    return rc;
}

pkb_code pkb_verb_score(int argc, char **argv, int *status, pkb_error *err)
{
    static const struct argp_option table[] = {
        PKB_SCORE_OPTION_ROWS,
        {"csv", KEY_CSV, 0, 0, "print rows of comma-separated values", 0},
        {"by-problem", KEY_BY_PROBLEM, 0, 0, "print a row for each problem, too", 0},
        {0}};
    static const struct argp argp = {
        .options = table,
        .parser = parse_option,
        .args_doc = "RUN...",
        .doc = "Prints pass@k, fast_p@k and speed-ups of runs, with 95 % intervals for other "
               "problems of this kind. A run is a folder that pkbench eval judged, or a file of "
               "records; several are scored one by one, or with --pool as one. Exit status 6: some "
               "attempts have no "
               "verdict yet."};
    score_options options = {0};
    pkb_catalogue catalogue = {0};
    char *root = NULL;

    pkb_score_options_init(&options.shared);
    pkb_arguments_parse(&argp, argc, argv, &options);
    pkb_code rc = pkb_fs_root(&root, err);
    if (rc == PKB_OK)
        rc = pkb_catalogue_open(&catalogue, root, err);
    for (size_t i = 0; i < options.shared.path_count && rc == PKB_OK;
         i += pkb_scored_step(&options.shared))
        rc = score_run(&options, &catalogue, i, status, err);
    pkb_catalogue_clear(&catalogue);
    free(root);
    pkb_score_options_clear(&options.shared);
    return rc;
}
