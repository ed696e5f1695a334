/* SPDX-License-Identifier: Apache-2.0
 *
 * Judges one attempt; see evaluation.h. Compiling and the start of the ranks go on at the same
 * time: while the compiler works, its idle hook takes what the judges say.
 */
#include "evaluator/attempt/evaluation.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/json.h"
#include "evaluator/attempt/printed.h"
#include "evaluator/problem/header.h"

pkb_code pkb_evaluation_read(pkb_evaluation *evaluation, pkb_error *err)
{
    const bool has_source = evaluation->source != NULL;
    evaluation->costs = PKB_RECORD_NO_COSTS;
    pkb_code rc = has_source ? pkb_attempt_copy(&evaluation->attempt, evaluation->file,
                                                evaluation->source, evaluation->source_bytes, err)
                             : pkb_attempt_read(&evaluation->attempt, evaluation->file, err);
    if (rc == PKB_OK && evaluation->attempt.is_blank && !has_source)
        rc = pkb_sample_status_read(&evaluation->status, evaluation->file, err);
    return rc;
}

/* A debugged rank is in none. */
static const char *weakest_level(const pkb_setting *setting)
{
    return pkb_sandbox_level_name(setting->debugger != NULL ? PKB_SANDBOX_NONE : setting->level);
}

pkb_record_facts pkb_evaluation_facts(const pkb_evaluation *evaluation)
{
    const pkb_setting *setting = evaluation->setting;
    const bool is_blank = evaluation->attempt.is_blank;
    return (pkb_record_facts){.options = &setting->options,
                              .file = evaluation->file,
                              .run = evaluation->run,
                              .sample = evaluation->sample,
                              .attempt = &evaluation->attempt,
                              .is_truncated = evaluation->status.is_truncated,
                              .problem = evaluation->problem->full_name,
                              .definition = evaluation->problem->sha256,
                              .sandbox = is_blank ? NULL : weakest_level(setting),
                              .tools = &setting->tools,
                              .gpus = &setting->gpus,
                              .control = evaluation->control,
                              .costs = evaluation->costs};
}

pkb_code pkb_evaluation_judgement(const pkb_evaluation *evaluation, bool is_timed,
                                  char hex[PKB_HASH_HEX_BYTES], pkb_error *err)
{
    pkb_eval_options options = evaluation->setting->options;
    pkb_record_facts facts = pkb_evaluation_facts(evaluation);

    options.is_timed = is_timed;
    facts.options = &options;
    return pkb_record_judgement(hex, &facts, err);
}

/* ---- the work ---- */

/* Removes what the attempt before left: its build and what it printed. */
static pkb_code clean_workdir(const pkb_ranks *ranks, const char *build, pkb_error *err)
{
    pkb_code rc = pkb_fs_remove_tree(build, err);

    for (int rank = 0; rank < ranks->setting->options.world && rc == PKB_OK; rank++) {
        char name[PKB_PRINTED_NAME_BYTES];
        pkb_printed_name(name, rank);
        char *path = pkb_workdir_path(&ranks->workdir, name);
        if (path != NULL)
            rc = pkb_fs_remove_tree(path, err);
        free(path);
    }
    return rc;
}

static pkb_code write_header(pkb_evaluation *evaluation, pkb_error *err)
{
    pkb_header_write(&evaluation->header, evaluation->problem);
    return pkb_buf_check(&evaluation->header, "problem.h", err);
}

static pkb_compile_options compile_options(const pkb_evaluation *evaluation, const char *directory)
{
    const pkb_setting *setting = evaluation->setting;
    return (pkb_compile_options){.tools = &setting->tools,
                                 .level = setting->level,
                                 .directory = directory,
                                 .file_name = evaluation->attempt.file_name,
                                 .source = evaluation->attempt.source,
                                 .source_bytes = evaluation->attempt.bytes,
                                 .header = pkb_buf_text(&evaluation->header),
                                 .architecture =
                                     setting->gpus.count > 0 ? setting->gpus.architecture : NULL,
                                 .timeout_ns = (uint64_t)(setting->options.compile_timeout_s * 1e9),
                                 .may_run = setting->may_compile,
                                 .may_run_context = setting->idle.context,
                                 .uses_cache = setting->options.uses_cache};
}

static pkb_code compile_in(pkb_evaluation *evaluation, pkb_ranks *ranks, const char *directory,
                           pkb_error *err)
{
    const pkb_idle idle = pkb_ranks_idle(ranks);
    pkb_compile_options options = compile_options(evaluation, directory);

    options.idle = &idle;
    return pkb_compile(&evaluation->build, &options, err);
}

pkb_code pkb_evaluation_compile_ahead(pkb_evaluation *evaluation, const char *directory,
                                      pkb_error *err)
{
    pkb_code rc = write_header(evaluation, err);
    if (rc != PKB_OK)
        return rc;
    pkb_compile_options options = compile_options(evaluation, directory);
    options.is_ahead = true;
    return pkb_compile_ahead(&options, err);
}

static double since_s(uint64_t start_ns)
{
    return (double)(pkb_clock_now_ns() - start_ns) / 1e9;
}

static pkb_code compile(pkb_evaluation *evaluation, pkb_ranks *ranks, pkb_error *err)
{
    const uint64_t start_ns = pkb_clock_now_ns();
    char *directory = pkb_workdir_path(&ranks->workdir, "build");
    if (directory == NULL)
        return pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for the build");

    pkb_progress_step(&ranks->setting->progress, "compiling", NULL);
    pkb_code rc = write_header(evaluation, err);
    if (rc == PKB_OK)
        rc = clean_workdir(ranks, directory, err);
    if (rc == PKB_OK)
        rc = pkb_fs_make_directory(directory, 0700, err);
    if (rc == PKB_OK)
        rc = compile_in(evaluation, ranks, directory, err);
    evaluation->costs.compile_s = since_s(start_ns);
    free(directory);
    return rc;
}

/* What the judges say that they took. */
static double judged_s(const cJSON *event)
{
    const cJSON *cost = NULL;
    double seconds = 0;
    cJSON_ArrayForEach(cost, cJSON_GetObjectItemCaseSensitive(event, "cost_s")) seconds +=
        cost->valuedouble;
    return seconds;
}

/* The ranks failed with the attempt in their hands. */
static void note_fault(pkb_evaluation *evaluation, const pkb_ranks *ranks, pkb_error *failure)
{
    const pkb_error told = *failure;
    const char *size = pkb_session_size(ranks->session), *step = pkb_session_step(ranks->session);

    evaluation->was_held = true;
    evaluation->ran_out = pkb_session_ran_out(ranks->session);
    if (size[0] != '\0')
        snprintf(failure->message, sizeof failure->message, "%.380s (in %s, %.60s)", told.message,
                 size, step);
}

static pkb_code judge(pkb_evaluation *evaluation, pkb_ranks *ranks, pkb_error *err)
{
    char id[160];
    const pkb_setting *setting = evaluation->setting;
    const pkb_session_attempt attempt = {.id = id,
                                         .host = evaluation->build.host,
                                         .device = evaluation->build.device,
                                         .level = setting->level,
                                         .is_timed = setting->options.is_timed,
                                         .debugger = setting->debugger,
                                         .debug_tool = setting->options.debug_tool,
                                         .debug_rank = setting->options.debug_rank};
    pkb_record_costs *costs = &evaluation->costs;
    const bool is_new = !ranks->is_up;
    uint64_t start_ns = pkb_clock_now_ns();

    snprintf(id, sizeof id, "%s/%lld%s", evaluation->problem->full_name,
             (long long)evaluation->sample, evaluation->is_control ? "/control" : "");
    pkb_code rc = pkb_ranks_wait(ranks, err);
    *(is_new ? &costs->start_s : &costs->prepare_s) += since_s(start_ns);
    if (rc != PKB_OK)
        return rc;
    start_ns = pkb_clock_now_ns();
    rc = pkb_ranks_judge(ranks, &attempt, &evaluation->event, err);
    if (rc != PKB_OK)
        note_fault(evaluation, ranks, err);
    /* The rest: draws that were begun before this attempt had to be finished first. */
    if (rc == PKB_OK && since_s(start_ns) > judged_s(evaluation->event))
        costs->prepare_s += since_s(start_ns) - judged_s(evaluation->event);
    return rc;
}

/* ---- the record ---- */

static pkb_code make_record(pkb_evaluation *evaluation, const pkb_ranks *ranks, pkb_error *err)
{
    const pkb_build *build = &evaluation->build;
    pkb_record_facts facts = pkb_evaluation_facts(evaluation);

    facts.sizes = ranks->plan.sizes;
    if (!build->is_built)
        return pkb_record_plain(&evaluation->record, &facts, build->verdict, build->reason, err);
    facts.secret = ranks->secret;
    if (evaluation->event != NULL)
        return pkb_record_judged(&evaluation->record, &facts, evaluation->event, err);
    return pkb_record_plain(&evaluation->record, &facts, PKB_VERDICT_INFRA_ERROR,
                            evaluation->failure.message, err);
}

static pkb_code record_blank(pkb_evaluation *evaluation, pkb_error *err)
{
    const pkb_record_facts facts = pkb_evaluation_facts(evaluation);
    pkb_buf reason = {0};

    if (evaluation->status.reason[0] != '\0')
        pkb_buf_append_string(&reason, evaluation->status.reason);
    else
        pkb_buf_printf(&reason, "%s holds no code", evaluation->file);
    pkb_code rc = pkb_record_plain(&evaluation->record, &facts,
                                   evaluation->status.is_truncated ? PKB_VERDICT_TRUNCATED
                                                                   : PKB_VERDICT_NO_CODE,
                                   pkb_buf_text(&reason), err);
    pkb_buf_clear(&reason);
    return rc;
}

/* The rank that the reason is about comes first. */
static void read_printed(pkb_evaluation *evaluation, const pkb_ranks *ranks)
{
    pkb_verdict verdict = PKB_VERDICT_CORRECT;
    int64_t rank = 0;

    pkb_json_get_i64(cJSON_GetObjectItemCaseSensitive(evaluation->record, "where"), "rank", &rank,
                     NULL);
    if (pkb_record_verdict(evaluation->record, &verdict, NULL) == PKB_OK &&
        verdict != PKB_VERDICT_CORRECT && evaluation->build.is_built)
        pkb_printed_read(&evaluation->printed, &ranks->workdir, ranks->setting->options.world,
                         (int)rank, &evaluation->printed_rank);
}

/* Plan and work directory may fail as ours; from then on a failure of the ranks is a verdict. */
static pkb_code run_steps(pkb_evaluation *evaluation, pkb_ranks *ranks, pkb_error *err)
{
    const uint64_t start_ns = pkb_clock_now_ns();

    pkb_code rc = pkb_ranks_open(ranks, evaluation->problem, err);
    evaluation->costs.prepare_s = 0;
    evaluation->costs.start_s = ranks->is_up ? -1 : 0;
    *(ranks->is_up ? &evaluation->costs.prepare_s : &evaluation->costs.start_s) +=
        since_s(start_ns);
    if (rc == PKB_OK)
        rc = compile(evaluation, ranks, err);
    if (rc != PKB_OK || !evaluation->build.is_built)
        return rc;
    rc = judge(evaluation, ranks, &evaluation->failure);
    if (rc == PKB_ERR_INTERRUPTED || rc == PKB_ERR_MEMORY) {
        *err = evaluation->failure;
        return rc;
    }
    return PKB_OK;
}

pkb_code pkb_evaluation_judge(pkb_evaluation *evaluation, pkb_ranks *ranks, pkb_error *err)
{
    const uint64_t start_ns = pkb_clock_now_ns();

    if (evaluation->attempt.is_blank)
        return record_blank(evaluation, err);
    pkb_code rc = run_steps(evaluation, ranks, err);
    evaluation->costs.total_s = since_s(start_ns);
    if (rc == PKB_OK)
        rc = make_record(evaluation, ranks, err);
    if (rc != PKB_OK)
        return rc;
    if (evaluation->event != NULL && pkb_record_is_pending(evaluation->record))
        evaluation->was_held = true; /* the judges say that they failed */
    read_printed(evaluation, ranks);
    return PKB_OK;
}

/* Failures that are not this attempt's or these ranks': another try would end in the same way. */
static bool ends_the_run(pkb_code rc)
{
    return rc == PKB_ERR_INTERRUPTED || rc == PKB_ERR_MEMORY || rc == PKB_ERR_DISK ||
           rc == PKB_ERR_USAGE || rc == PKB_ERR_MISSING;
}

pkb_code pkb_evaluation_try(pkb_evaluation *evaluation, pkb_ranks *ranks, pkb_error *err)
{
    pkb_error failure = {0};
    pkb_code rc = pkb_evaluation_judge(evaluation, ranks, &failure);

    if (rc == PKB_OK)
        return PKB_OK;
    if (ends_the_run(rc)) {
        *err = failure;
        return rc;
    }
    return pkb_evaluation_fail(evaluation, &failure, err);
}

pkb_code pkb_evaluation_fail(pkb_evaluation *evaluation, const pkb_error *failure, pkb_error *err)
{
    const pkb_record_facts facts = pkb_evaluation_facts(evaluation);
    return pkb_record_plain(&evaluation->record, &facts, PKB_VERDICT_INFRA_ERROR, failure->message,
                            err);
}

void pkb_evaluation_clear(pkb_evaluation *evaluation)
{
    pkb_attempt_clear(&evaluation->attempt);
    pkb_build_clear(&evaluation->build);
    pkb_buf_clear(&evaluation->header);
    pkb_buf_clear(&evaluation->printed);
    cJSON_Delete(evaluation->event);
    cJSON_Delete(evaluation->record);
    cJSON_Delete(evaluation->control);
    *evaluation = (pkb_evaluation){0};
}
