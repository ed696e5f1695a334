/* SPDX-License-Identifier: Apache-2.0
 *
 * Judges one attempt; see evaluation.h. Compiling and the start of the ranks go on at the same
 * time: while the compiler works, its idle hook takes what the judges say.
 */
#include "evaluator/evaluation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/json.h"
#include "evaluator/compile.h"
#include "evaluator/debug.h"
#include "evaluator/header.h"
#include "evaluator/keep.h"
#include "evaluator/plan.h"
#include "evaluator/printed.h"
#include "evaluator/session.h"
#include "evaluator/workdir.h"

/* What exists while the attempt is judged. */
typedef struct job {
    pkb_evaluation *evaluation;
    pkb_workdir workdir;
    pkb_plan plan;
    pkb_session *session;
    pkb_build build;
    pkb_buf header;
    cJSON *event;
    double start_s; /* below 0: the ranks did not come up */
    pkb_error failure;
} job;

/* ---- before anything starts ---- */

static pkb_code choose_level(pkb_evaluation *evaluation, pkb_error *err)
{
    const char *asked = evaluation->options.sandbox;
    pkb_sandbox_level found = PKB_SANDBOX_NONE;
    char why[256] = "";

    if (asked != NULL) {
        pkb_code rc = pkb_sandbox_level_parse(asked, &evaluation->level, err);
        if (rc != PKB_OK || evaluation->level == PKB_SANDBOX_NONE)
            return rc;
    }
    pkb_code rc = pkb_sandbox_probe(&found, why, sizeof why, err);
    if (rc != PKB_OK)
        return rc;
    if (asked == NULL)
        evaluation->level = found;
    else if (evaluation->level > found)
        return pkb_error_set(err, PKB_ERR_MISSING, 0,
                             "the sandbox level %s does not work here (%s); install bubblewrap and "
                             "allow user namespaces, or use --sandbox %s",
                             asked, why, pkb_sandbox_level_name(found));
    return PKB_OK;
}

static pkb_code find_problem(pkb_evaluation *evaluation, pkb_error *err)
{
    const pkb_eval_options *options = &evaluation->options;
    const char *name = NULL;
    char *root = NULL;

    pkb_code rc = pkb_fs_root(&root, err);
    if (rc == PKB_OK)
        rc = pkb_catalogue_open(&evaluation->catalogue, root, err);
    if (rc == PKB_OK && options->problem != NULL)
        rc = pkb_catalogue_find(&evaluation->catalogue, options->problem, &name, err);
    else if (rc == PKB_OK)
        rc = pkb_catalogue_find_file(&evaluation->catalogue, options->file, &name, err);
    if (rc == PKB_OK)
        rc = pkb_problem_load(&evaluation->problem, &evaluation->catalogue, name, err);
    free(root);
    return rc;
}

static pkb_code require_tools(pkb_evaluation *evaluation, pkb_error *err)
{
    /* gcc before nvcc, which cannot even say where it is without it */
    static const pkb_tool_id needed[] = {PKB_TOOL_PYTHON, PKB_TOOL_TORCH,      PKB_TOOL_MPIRUN,
                                         PKB_TOOL_GCC,    PKB_TOOL_NVCC,       PKB_TOOL_CUDART,
                                         PKB_TOOL_JUDGE,  PKB_TOOL_TRANSLATOR, PKB_TOOL_CELL};
    pkb_code rc =
        pkb_toolbox_require(&evaluation->tools, needed, sizeof needed / sizeof needed[0], err);
    return rc == PKB_OK ? choose_level(evaluation, err) : rc;
}

static pkb_code choose_gpus(pkb_evaluation *evaluation, pkb_error *err)
{
    const pkb_eval_options *options = &evaluation->options;
    if (strcmp(options->device, "cuda") != 0)
        return PKB_OK;
    return pkb_eval_gpus_choose(&evaluation->gpus, options->gpus, options->world, err);
}

static pkb_code draw_secret(pkb_evaluation *evaluation, pkb_error *err)
{
    char text[64];
    unsigned char random[32];

    if (!evaluation->options.has_seed) {
        pkb_code rc = pkb_random_bytes(random, sizeof random, err);
        return rc == PKB_OK ? pkb_hash_bytes(random, sizeof random, evaluation->secret, err) : rc;
    }
    snprintf(text, sizeof text, "pkbench seed %llu", (unsigned long long)evaluation->options.seed);
    return pkb_hash_bytes(text, strlen(text), evaluation->secret, err);
}

pkb_code pkb_evaluation_prepare(pkb_evaluation *evaluation, pkb_error *err)
{
    pkb_eval_options *options = &evaluation->options;

    pkb_progress_start(&evaluation->progress);
    pkb_code rc = pkb_eval_options_check(options, pkb_tool_has_gpu(), err);
    if (rc == PKB_OK)
        rc = pkb_attempt_read(&evaluation->attempt, options->file, err);
    if (rc == PKB_OK)
        rc = choose_gpus(evaluation, err);
    if (rc == PKB_OK)
        rc = find_problem(evaluation, err);
    if (rc == PKB_OK)
        rc = pkb_toolbox_open(&evaluation->tools, err);
    if (rc == PKB_OK && !evaluation->attempt.is_blank)
        rc = require_tools(evaluation, err);
    if (rc == PKB_OK && options->has_debug)
        rc = pkb_debug_find(&evaluation->debugger, &evaluation->tools, err);
    if (rc == PKB_OK)
        rc = draw_secret(evaluation, err);
    if (rc == PKB_OK && options->output != NULL)
        rc = pkb_record_check_file(options->output, err);
    if (rc == PKB_OK && options->keep != NULL)
        rc = pkb_keep_open(options->keep, err);
    return rc;
}

/* ---- the work ---- */

static pkb_code tick(void *context, pkb_error *err)
{
    job *work = context;
    (void)err; /* a failure of the ranks is kept for when they are waited for */
    if (work->session != NULL)
        pkb_session_pump(work->session);
    pkb_progress_tick(&work->evaluation->progress);
    return PKB_OK;
}

static pkb_code tick_judging(void *context, pkb_error *err)
{
    job *work = context;
    (void)err;
    const char *size = pkb_session_size(work->session);
    char step[96];
    snprintf(step, sizeof step, "judging %s", size);
    if (size[0] != '\0')
        pkb_progress_step(&work->evaluation->progress, step, pkb_session_step(work->session));
    pkb_progress_tick(&work->evaluation->progress);
    return PKB_OK;
}

static pkb_code resolve(job *work, pkb_error *err)
{
    const pkb_eval_options *options = &work->evaluation->options;
    const pkb_plan_request request = {.problem = work->evaluation->problem->full_name,
                                      .world = options->world,
                                      .sizes = options->sizes,
                                      .grid = options->grid,
                                      .device = options->device};
    pkb_code rc = pkb_plan_resolve(&work->plan, &work->evaluation->tools, &request, err);
    return rc == PKB_OK ? pkb_plan_check(&work->plan, work->evaluation->problem, err) : rc;
}

static pkb_code start_ranks(job *work, pkb_error *err)
{
    const pkb_evaluation *evaluation = work->evaluation;
    const bool has_gpus = evaluation->gpus.count > 0;
    const pkb_session_options options = {.tools = &evaluation->tools,
                                         .workdir = &work->workdir,
                                         .plan = &work->plan,
                                         .world = evaluation->options.world,
                                         .device = evaluation->options.device,
                                         .gpus = has_gpus ? evaluation->gpus.list : NULL,
                                         .timeout_s = evaluation->options.timeout_s,
                                         .is_patient =
                                             !has_gpus && !evaluation->options.has_timeout,
                                         .secret = evaluation->secret};
    return pkb_session_start(&work->session, &options, err);
}

static pkb_code compile(job *work, pkb_error *err)
{
    pkb_evaluation *evaluation = work->evaluation;
    const pkb_idle idle = {.tick = tick, .context = work};
    char *directory = pkb_workdir_path(&work->workdir, "build");
    pkb_code rc = PKB_OK;

    if (directory == NULL)
        return pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for the build");
    pkb_progress_step(&evaluation->progress, "compiling", NULL);
    pkb_header_write(&work->header, evaluation->problem);
    rc = pkb_buf_check(&work->header, "problem.h", err);
    if (rc == PKB_OK)
        rc = pkb_fs_make_directory(directory, 0700, err);
    if (rc == PKB_OK) {
        const pkb_compile_options options = {
            .tools = &evaluation->tools,
            .level = evaluation->level,
            .directory = directory,
            .file_name = evaluation->attempt.file_name,
            .source = evaluation->attempt.source,
            .source_bytes = evaluation->attempt.bytes,
            .header = pkb_buf_text(&work->header),
            .architecture = evaluation->gpus.count > 0 ? evaluation->gpus.architecture : NULL,
            .timeout_ns = (uint64_t)(evaluation->options.compile_timeout_s * 1e9),
            .uses_cache = evaluation->options.uses_cache,
            .idle = &idle};
        rc = pkb_compile(&work->build, &options, err);
    }
    evaluation->was_cached = work->build.was_cached;
    free(directory);
    return rc;
}

static pkb_code judge(job *work, uint64_t start_ns, pkb_error *err)
{
    const pkb_evaluation *evaluation = work->evaluation;
    const pkb_idle idle = {.tick = tick_judging, .context = work};
    const pkb_session_attempt attempt = {.id = work->workdir.id,
                                         .host = work->build.host,
                                         .device = work->build.device,
                                         .level = evaluation->level,
                                         .is_timed = evaluation->options.is_timed,
                                         .debugger = evaluation->debugger,
                                         .debug_tool = evaluation->options.debug_tool,
                                         .debug_rank = evaluation->options.debug_rank};

    pkb_progress_step(&work->evaluation->progress, "starting ranks", NULL);
    pkb_code rc = pkb_session_wait_open(work->session, &idle, err);
    if (rc != PKB_OK)
        return rc;
    work->start_s = (double)(pkb_clock_now_ns() - start_ns) / 1e9;
    return pkb_session_judge(work->session, &attempt, &idle, &work->event, err);
}

/* Plan and work directory may fail as ours; from then on a failure of the ranks is a verdict. */
static pkb_code run_all(job *work, pkb_error *err)
{
    const uint64_t start_ns = pkb_clock_now_ns();
    pkb_code rc = resolve(work, err);
    if (rc == PKB_OK)
        rc = pkb_workdir_open(&work->workdir, err);
    if (rc == PKB_OK)
        rc = start_ranks(work, err);
    if (rc == PKB_OK)
        rc = compile(work, err);
    if (rc != PKB_OK || !work->build.is_built)
        return rc;
    rc = judge(work, start_ns, &work->failure);
    if (rc == PKB_ERR_INTERRUPTED || rc == PKB_ERR_MEMORY) {
        *err = work->failure;
        return rc;
    }
    return PKB_OK;
}

/* A debugged rank is in none. */
static const char *weakest_level(const pkb_evaluation *evaluation)
{
    return pkb_sandbox_level_name(evaluation->debugger != NULL ? PKB_SANDBOX_NONE
                                                               : evaluation->level);
}

static pkb_code make_record(job *work, pkb_error *err)
{
    pkb_evaluation *evaluation = work->evaluation;
    const pkb_build *build = &work->build;
    const bool has_run = build->is_built;
    const pkb_record_facts facts = {.options = &evaluation->options,
                                    .attempt = &evaluation->attempt,
                                    .problem = evaluation->problem->full_name,
                                    .sandbox = weakest_level(evaluation),
                                    .secret = has_run ? evaluation->secret : NULL,
                                    .sizes = work->plan.sizes,
                                    .tools = &evaluation->tools,
                                    .gpus = &evaluation->gpus,
                                    .compile_s = build->seconds,
                                    .start_s = work->start_s};

    if (!has_run)
        return pkb_record_plain(&evaluation->record, &facts, build->verdict, build->reason, err);
    if (work->event != NULL)
        return pkb_record_judged(&evaluation->record, &facts, work->event, err);
    return pkb_record_plain(&evaluation->record, &facts, PKB_VERDICT_INFRA_ERROR,
                            work->failure.message, err);
}

/* The attempt itself, what was built of it, and all that was said. */
static pkb_code keep_files(const job *work, pkb_error *err)
{
    const char *folder = work->evaluation->options.keep;
    char *ranks = pkb_workdir_path(&work->workdir, "ranks.log");
    char *debug = pkb_workdir_path(&work->workdir, PKB_DEBUG_NAME); /* where there was a debugger */
    const bool has_debug = debug != NULL && pkb_fs_exists(debug);
    const char *const files[] = {ranks, work->build.host, work->build.device,
                                 has_debug ? debug : NULL};
    pkb_code rc = PKB_OK;

    for (size_t i = 0; i < sizeof files / sizeof files[0] && rc == PKB_OK; i++)
        if (files[i] != NULL)
            rc = pkb_keep_file(folder, files[i], err);
    free(ranks);
    free(debug);
    for (int rank = 0; rank < work->evaluation->options.world && rc == PKB_OK; rank++) {
        char name[PKB_PRINTED_NAME_BYTES];
        pkb_printed_name(name, rank);
        char *path = pkb_workdir_path(&work->workdir, name);
        if (path != NULL)
            rc = pkb_keep_file(folder, path, err);
        free(path);
    }
    return rc;
}

static pkb_code keep_all(const job *work, pkb_error *err)
{
    const pkb_evaluation *evaluation = work->evaluation;
    const pkb_buf *header = &work->header, *plan = &work->plan.text, *log = &work->build.log;
    const struct {
        const char *name, *text;
        size_t bytes;
    } texts[] = {
        {evaluation->attempt.file_name, evaluation->attempt.source, evaluation->attempt.bytes},
        {"problem.h", pkb_buf_text(header), header->bytes},
        {"plan.json", pkb_buf_text(plan), plan->bytes},
        {"compile.log", pkb_buf_text(log), log->bytes},
    };
    pkb_code rc = PKB_OK;

    for (size_t i = 0; i < sizeof texts / sizeof texts[0] && rc == PKB_OK; i++)
        rc = pkb_keep_text(evaluation->options.keep, texts[i].name, texts[i].text, texts[i].bytes,
                           err);
    return rc == PKB_OK ? keep_files(work, err) : rc;
}

/* The rank that the reason is about comes first. */
static void read_printed(job *work)
{
    pkb_evaluation *evaluation = work->evaluation;
    pkb_verdict verdict = PKB_VERDICT_CORRECT;
    int64_t rank = 0;

    pkb_json_get_i64(cJSON_GetObjectItemCaseSensitive(evaluation->record, "where"), "rank", &rank,
                     NULL);
    if (pkb_record_verdict(evaluation->record, &verdict, NULL) == PKB_OK &&
        verdict != PKB_VERDICT_CORRECT && work->build.is_built)
        pkb_printed_read(&evaluation->printed, &work->workdir, evaluation->options.world, (int)rank,
                         &evaluation->printed_rank);
}

static void clear(job *work)
{
    pkb_session_close(work->session);
    pkb_build_clear(&work->build);
    pkb_plan_clear(&work->plan);
    pkb_buf_clear(&work->header);
    cJSON_Delete(work->event);
    pkb_workdir_close(&work->workdir);
}

static pkb_code record_blank(pkb_evaluation *evaluation, pkb_error *err)
{
    const pkb_record_facts facts = {.options = &evaluation->options,
                                    .attempt = &evaluation->attempt,
                                    .problem = evaluation->problem->full_name,
                                    .tools = &evaluation->tools,
                                    .gpus = &evaluation->gpus,
                                    .compile_s = -1,
                                    .start_s = -1};
    pkb_buf reason = {0};
    pkb_buf_printf(&reason, "%s holds no code", evaluation->options.file);
    pkb_code rc = pkb_record_plain(&evaluation->record, &facts, PKB_VERDICT_NO_CODE,
                                   pkb_buf_text(&reason), err);
    pkb_buf_clear(&reason);
    return rc;
}

pkb_code pkb_evaluation_run(pkb_evaluation *evaluation, pkb_error *err)
{
    job work = {.evaluation = evaluation, .workdir = PKB_WORKDIR_NONE, .start_s = -1};

    if (evaluation->attempt.is_blank)
        return record_blank(evaluation, err);
    if (evaluation->debugger != NULL)
        pkb_debug_warn(stderr, &evaluation->options);
    pkb_code rc = run_all(&work, err);
    pkb_progress_end(&evaluation->progress);
    if (rc == PKB_OK)
        rc = make_record(&work, err);
    pkb_session_close(work.session); /* the ranks write to the end */
    work.session = NULL;
    if (rc == PKB_OK)
        read_printed(&work);
    if (rc == PKB_OK && evaluation->debugger != NULL)
        pkb_debug_print(stderr, &work.workdir, evaluation->options.keep);
    if (rc == PKB_OK && evaluation->options.keep != NULL)
        rc = keep_all(&work, err);
    clear(&work);
    return rc;
}

void pkb_evaluation_clear(pkb_evaluation *evaluation)
{
    pkb_progress_end(&evaluation->progress);
    free(evaluation->debugger);
    cJSON_Delete(evaluation->record);
    pkb_buf_clear(&evaluation->printed);
    pkb_attempt_clear(&evaluation->attempt);
    pkb_problem_free(evaluation->problem);
    pkb_catalogue_clear(&evaluation->catalogue);
    pkb_toolbox_clear(&evaluation->tools);
}
