/* SPDX-License-Identifier: Apache-2.0
 *
 * pkbench import: completions from anybody's own inference become samples of a run.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/fs.h"
#include "evaluator/completion/import.h"
#include "evaluator/console/arguments.h"
#include "evaluator/console/interrupt.h"
#include "evaluator/console/terminal.h"
#include "evaluator/verbs/verb.h"

enum { KEY_REPLACE = 0x100 };

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    pkb_import_options *options = state->input;

    switch (key) {
    case KEY_REPLACE:
        options->replaces = true;
        return 0;
    case ARGP_KEY_ARG:
        if (options->file == NULL)
            options->file = value;
        else if (options->folder == NULL)
            options->folder = value;
        else
            argp_error(state, "one file and one folder, not '%s' as well", value);
        return 0;
    case ARGP_KEY_END:
        if (options->folder == NULL)
            argp_error(state, "which file, and which run? pkbench import completions.jsonl my_run");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static void tell(const pkb_import_options *options, const pkb_import_result *result)
{
    fprintf(stderr, "%zu sample%s with code, %zu NO_CODE, %zu TRUNCATED", result->code_count,
            result->code_count == 1 ? "" : "s", result->no_code_count, result->truncated_count);
    if (result->kept_count > 0)
        fprintf(stderr, "; %zu of them were there already", result->kept_count);
    if (result->planned_problems > 0)
        fprintf(stderr, "\nrun.json plans %zu sample%s of each of %zu problem%s",
                result->planned_samples, result->planned_samples == 1 ? "" : "s",
                result->planned_problems, result->planned_problems == 1 ? "" : "s");
    if (result->model_count > 1)
        fprintf(stderr,
                "\nnote: the lines name %zu models, and scores take a run as one: to compare "
                "models, import the lines of each into a run of its own",
                result->model_count);
    fputs("\njudge them with: pkbench eval ", stderr);
    pkb_terminal_put(options->folder);
    fputc('\n', stderr);
}

pkb_code pkb_verb_import(int argc, char **argv, int *status, pkb_error *err)
{
    static const struct argp_option table[] = {
        {"replace", KEY_REPLACE, 0, 0, "overwrite samples that came from another completion", 0},
        {0}};
    static const struct argp argp = {
        .options = table,
        .parser = parse_option,
        .args_doc = "FILE.jsonl RUN_DIR",
        .doc =
            "Makes samples of a run from completions, one JSON object a line, in a file or (-) on "
            "standard input: {problem, "
            "completion, sample?, finish_reason?, model?, prompt_sha256?}. Each gets "
            "RUN_DIR/samples/PROBLEM/K.cu and K.json. Without \"sample\" the lines of a problem "
            "are counted from 0. A reply without code, or one that was cut, is a sample, too, "
            "with the verdict NO_CODE or TRUNCATED.\v"
            "If a line is faulty nothing is written. A line may have 8 MiB, a file a million "
            "lines. docs/completions.md says how the code of a reply is found."};
    pkb_import_options options = {0};
    pkb_import_result result = {0};
    pkb_catalogue catalogue = {0};
    char *root = NULL;

    (void)status;
    pkb_arguments_parse(&argp, argc, argv, &options);
    pkb_interrupt_install();
    pkb_code rc = pkb_fs_root(&root, err);
    if (rc == PKB_OK)
        rc = pkb_catalogue_open(&catalogue, root, err);
    if (rc == PKB_OK)
        rc = pkb_import(&options, &catalogue, &result, err);
    if (rc == PKB_OK)
        tell(&options, &result);
    pkb_catalogue_clear(&catalogue);
    free(root);
    return rc;
}
