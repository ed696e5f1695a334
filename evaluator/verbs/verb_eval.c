/* SPDX-License-Identifier: Apache-2.0
 *
 * pkbench eval: an attempt (evaluation.c) or a folder of them (run.c), from options to records.
 */
#include <cjson/cJSON.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/json.h"
#include "evaluator/attempt/debug.h"
#include "evaluator/attempt/evaluation.h"
#include "evaluator/attempt/keep.h"
#include "evaluator/console/interrupt.h"
#include "evaluator/console/output.h"
#include "evaluator/record/result.h"
#include "evaluator/run/run.h"
#include "evaluator/verbs/verb.h"

/* ---- one file ---- */

static pkb_code find_problem(pkb_problem **out, const pkb_setting *setting, pkb_error *err)
{
    const pkb_eval_options *options = &setting->options;
    const pkb_catalogue *catalogue = &setting->catalogue;
    const char *name = NULL;

    pkb_code rc = options->problem != NULL
                      ? pkb_catalogue_find(catalogue, options->problem, &name, err)
                      : pkb_catalogue_find_file(catalogue, options->file, &name, err);
    if (rc == PKB_OK)
        rc = pkb_problem_load(out, catalogue, name, err);
    return rc == PKB_OK ? pkb_problem_hash(*out, err) : rc;
}

static pkb_code prepare(pkb_setting *setting, pkb_evaluation *evaluation, pkb_problem **problem,
                        pkb_error *err)
{
    const pkb_eval_options *options = &setting->options;

    pkb_code rc = pkb_eval_options_require(options, PKB_SCOPE_FILE, err);
    if (rc == PKB_OK)
        rc = pkb_evaluation_read(evaluation, err);
    if (rc == PKB_OK)
        rc = pkb_setting_find(setting, err);
    if (rc == PKB_OK)
        rc = find_problem(problem, setting, err);
    evaluation->problem = *problem;
    if (rc == PKB_OK && !evaluation->attempt.is_blank)
        rc = pkb_setting_require(setting, err);
    if (rc == PKB_OK && options->output != NULL)
        rc = pkb_record_check_file(options->output, err);
    if (rc == PKB_OK && options->keep != NULL)
        rc = pkb_keep_open(options->keep, err);
    return rc;
}

static pkb_code print_record(const pkb_evaluation *evaluation, pkb_error *err)
{
    if (evaluation->setting->options.wants_json)
        return pkb_output_json(evaluation->record, err);
    const pkb_result_notes notes = {.was_cached = evaluation->build.was_cached,
                                    .printed = pkb_buf_text(&evaluation->printed),
                                    .printed_rank = evaluation->printed_rank};
    pkb_result_print(stderr, evaluation->record, &notes);
    return PKB_OK;
}

static int status_of(pkb_verdict verdict)
{
    if (verdict == PKB_VERDICT_INFRA_ERROR)
        return pkb_code_exit_status(PKB_ERR_CHILD);
    return verdict == PKB_VERDICT_CORRECT ? 0 : PKB_EXIT_NOT_CORRECT;
}

static pkb_code judge_file(pkb_setting *setting, int *status, pkb_error *err)
{
    const pkb_eval_options *options = &setting->options;
    pkb_evaluation evaluation = {.setting = setting, .file = options->file};
    pkb_verdict verdict = PKB_VERDICT_INFRA_ERROR;
    pkb_problem *problem = NULL;
    pkb_ranks ranks;

    pkb_ranks_init(&ranks, setting);
    pkb_code rc = prepare(setting, &evaluation, &problem, err);
    if (rc == PKB_OK && setting->debugger != NULL)
        pkb_debug_warn(stderr, options);
    if (rc == PKB_OK)
        rc = pkb_evaluation_judge(&evaluation, &ranks, err);
    pkb_progress_end(&setting->progress);
    if (rc == PKB_OK && setting->debugger != NULL)
        pkb_debug_print(stderr, &ranks.workdir, options->keep);
    if (rc == PKB_OK && options->keep != NULL)
        rc = pkb_evaluation_keep(&evaluation, &ranks, options->keep, err);
    pkb_ranks_end(&ranks);
    if (rc == PKB_OK)
        rc = print_record(&evaluation, err);
    if (rc == PKB_OK && options->output != NULL)
        rc = pkb_record_append(evaluation.record, options->output, err);
    if (rc == PKB_OK)
        rc = pkb_record_verdict(evaluation.record, &verdict, err);
    if (rc == PKB_OK)
        *status = status_of(verdict);
    pkb_evaluation_clear(&evaluation);
    pkb_problem_free(problem);
    return rc;
}

static bool is_folder(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

pkb_code pkb_verb_eval(int argc, char **argv, int *status, pkb_error *err)
{
    pkb_setting setting = {0};

    pkb_eval_options_parse(&setting.options, argc, argv);
    pkb_interrupt_install();
    pkb_code rc = pkb_setting_start(&setting, err);
    if (rc == PKB_OK && is_folder(setting.options.file))
        rc = pkb_run_folder(&setting, argc, argv, status, err);
    else if (rc == PKB_OK)
        rc = judge_file(&setting, status, err);
    pkb_setting_clear(&setting);
    return rc;
}
