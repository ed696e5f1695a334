/* SPDX-License-Identifier: Apache-2.0
 *
 * pkbench compare: do two runs differ?
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/fs.h"
#include "evaluator/console/arguments.h"
#include "evaluator/console/output.h"
#include "evaluator/run/run.h"
#include "evaluator/score/compare.h"
#include "evaluator/verbs/score_options.h"
#include "evaluator/verbs/verb.h"

enum { RUNS = 2 };

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    pkb_score_options *options = state->input;

    if (key == ARGP_KEY_END && options->path_count != RUNS)
        argp_error(state, "name two runs, each a folder that pkbench eval judged or a file of "
                          "records");
    return pkb_score_options_parse(options, key, value, state);
}

static pkb_code print(const pkb_compare *compare, bool wants_json, pkb_error *err)
{
    const pkb_score *const scores[] = {compare->a, compare->b};
    cJSON *json = NULL;
    pkb_code rc = PKB_OK;

    for (size_t i = 0; i < RUNS; i++)
        for (size_t k = 0; k < scores[i]->runset->note_count; k++)
            fprintf(stderr, "note: %s\n", scores[i]->runset->notes[k]);
    if (wants_json) {
        rc = pkb_compare_json(&json, compare, err);
        if (rc == PKB_OK)
            rc = pkb_output_json(json, err);
        cJSON_Delete(json);
        return rc;
    }
    pkb_compare_text(stdout, compare);
    return pkb_output_flush(err);
}

static pkb_code compare_runs(const pkb_score_options *options, const pkb_catalogue *catalogue,
                             int *status, pkb_error *err)
{
    pkb_runset runsets[RUNS] = {0};
    pkb_score scores[RUNS] = {0};
    pkb_compare compare = {0};
    pkb_code rc = PKB_OK;

    for (size_t i = 0; i < RUNS && rc == PKB_OK; i++) {
        rc = pkb_runset_read(&runsets[i], options->paths + i, 1, &options->runset, catalogue, err);
        if (rc == PKB_OK)
            rc = pkb_score_make(&scores[i], &runsets[i], catalogue, options->seed, err);
    }
    if (rc == PKB_OK)
        rc = pkb_compare_make(&compare, &scores[0], &scores[1], options->runset.mixes, err);
    if (rc == PKB_OK)
        rc = print(&compare, options->wants_json, err);
    if (rc == PKB_OK && !compare.is_complete)
        *status = PKB_EXIT_INCOMPLETE;
    pkb_compare_clear(&compare);
    for (size_t i = 0; i < RUNS; i++) {
        pkb_score_clear(&scores[i]);
        pkb_runset_clear(&runsets[i]);
    }
    return rc;
}

pkb_code pkb_verb_compare(int argc, char **argv, int *status, pkb_error *err)
{
    static const struct argp_option table[] = {PKB_SCORE_OPTION_ROWS, {0}};
    static const struct argp argp = {
        .options = table,
        .parser = parse_option,
        .args_doc = "A B",
        .doc = "Compares two runs problem by problem: B less A with its 95 % interval and the "
               "p-value of a permutation test, the ratio of their speed-ups, and the problems that "
               "only one of them solved. Exit status 6: the runs are not complete."};
    pkb_score_options options;
    pkb_catalogue catalogue = {0};
    char *root = NULL;

    pkb_score_options_init(&options);
    pkb_arguments_parse(&argp, argc, argv, &options);
    pkb_code rc = pkb_fs_root(&root, err);
    if (rc == PKB_OK)
        rc = pkb_catalogue_open(&catalogue, root, err);
    if (rc == PKB_OK)
        rc = compare_runs(&options, &catalogue, status, err);
    pkb_catalogue_clear(&catalogue);
    free(root);
    pkb_score_options_clear(&options);
    return rc;
}
