/* SPDX-License-Identifier: Apache-2.0
 *
 * The steps of an attempt (docs/protocol.md, section 5); see attempt.h.
 */
#include "harness/judge/attempt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/stats.h"
#include "harness/judge/quiet.h"
#include "harness/judge/report.h"

typedef struct attempt_request {
    const char *id, *host, *device;
    const cJSON *sizes;    /* names or classes; NULL = all of the plan */
    const cJSON *timeouts; /* seconds by place in the plan; NULL = the judge's own limit for all */
    pkb_sandbox_level level;
    bool has_time;
    const char *debugger; /* compute-sanitizer, around the cell of one rank; NULL = none */
    const char *debug_tool;
    uint32_t debug_rank;
} attempt_request;

uint64_t pkb_attempt_key(pkb_attempt *attempt)
{
    return pkb_random_next(&attempt->judge->own_random);
}

void pkb_attempt_remember(pkb_attempt *attempt, uint32_t entry)
{
    if (attempt->past_count < sizeof attempt->past / sizeof attempt->past[0])
        attempt->past[attempt->past_count++] = entry;
}

pkb_code pkb_attempt_settle(pkb_attempt *attempt, bool *is_clean, pkb_error *err)
{
    pkb_code rc = attempt->judge->device->synchronise(err);
    if (rc == PKB_OK)
        rc =
            pkb_judge_world_settle(&attempt->judge->world, &attempt->finding, &attempt->worst, err);
    *is_clean = rc == PKB_OK && pkb_finding_is_clean(&attempt->worst);
    return rc;
}

/* <folder of this program>/name. */
static pkb_code beside_me(char *out, size_t bytes, const char *name, pkb_error *err)
{
    char self[3500];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length < 0)
        return pkb_error_set(err, PKB_ERR_IO, 0, "cannot find the judge's own program");
    self[length] = '\0';
    char *slash = strrchr(self, '/');
    if (slash != NULL)
        *slash = '\0';
    snprintf(out, bytes, "%s/%s", self, name);
    return PKB_OK;
}

/* ---- a rank that is looked into ---- */

#define DEBUG_PART "debug.part" /* what the tool says of one size */

static bool has_debugger(const pkb_judge *judge, const attempt_request *request)
{
    return request->debugger != NULL && request->debug_rank == judge->options.rank;
}

/* Each size has a cell of its own, and the tool begins its file anew. Best effort: a log decides
 * nothing. */
static void keep_debug_log(const pkb_judge *judge, const char *size)
{
    enum { LIMIT_BYTES = 64 << 20 };
    char part[4096], whole[4096], title[128], *text = NULL;
    size_t bytes = 0;

    snprintf(part, sizeof part, "%s/" DEBUG_PART, judge->options.work);
    snprintf(whole, sizeof whole, "%s/debug.txt", judge->options.work);
    snprintf(title, sizeof title, "---- rank %u, size %s ----\n", judge->options.rank, size);
    pkb_fs_append(whole, title, strlen(title), NULL);
    if (pkb_fs_read(part, LIMIT_BYTES, &text, &bytes, NULL) == PKB_OK)
        pkb_fs_append(whole, text, bytes, NULL);
    free(text);
    unlink(part);
}

/* ---- one size ---- */

/* Where a device is slow, the evaluator gives each size its own limit. */
static uint64_t request_timeout_ns(const pkb_judge *judge, const attempt_request *request)
{
    const int place = (int)(judge->size - judge->plan->sizes);
    const cJSON *seconds = cJSON_GetArrayItem(request->timeouts, place);
    bool is_sane =
        cJSON_IsNumber(seconds) && seconds->valuedouble > 0 && seconds->valuedouble < 1e6;
    return is_sane ? (uint64_t)(seconds->valuedouble * 1e9) : judge->options.timeout_ns;
}

static pkb_code start_cell(pkb_attempt *attempt, const attempt_request *request, pkb_error *err)
{
    /* These outlive the cell. */
    static char program[4096], library[4096], log_path[4096], debug_path[4096];
    static pkb_cell_debug debug;
    pkb_judge *judge = attempt->judge;
    pkb_code rc = PKB_OK;

    if ((rc = beside_me(program, sizeof program, "pkbench-cell", err)) != PKB_OK ||
        (rc = beside_me(library, sizeof library, "lib", err)) != PKB_OK)
        return rc;
    snprintf(log_path, sizeof log_path, "%s/rank%u.txt", judge->options.work, judge->options.rank);
    snprintf(debug_path, sizeof debug_path, "%s/" DEBUG_PART, judge->options.work);
    debug = (pkb_cell_debug){request->debugger, request->debug_tool, debug_path};
    const bool is_debugged = has_debugger(judge, request);
    const pkb_cell_options options = {.program = program,
                                      .library_dir = library,
                                      .cudart = judge->options.cudart,
                                      .gpus = judge->gpus,
                                      .host_path = request->host,
                                      .device_path = request->device,
                                      .log_path = log_path,
                                      .debug = is_debugged ? &debug : NULL,
                                      .level = is_debugged ? PKB_SANDBOX_NONE : request->level,
                                      .timeout_ns = request_timeout_ns(judge, request),
                                      .memory = judge->memory,
                                      .world = &judge->world,
                                      .watch = &judge->watch};
    return pkb_cell_start(&attempt->cell, &options, err);
}

static pkb_code step(pkb_attempt *attempt, pkb_command command, bool *is_clean, pkb_error *err)
{
    const pkb_cell_request request = {.command = command};
    pkb_code rc = pkb_cell_do(attempt->cell, &request, &attempt->finding, err);
    return rc != PKB_OK ? rc : pkb_attempt_settle(attempt, is_clean, err);
}

static pkb_code finish_cell(pkb_attempt *attempt, bool *is_clean, pkb_error *err)
{
    pkb_code rc = step(attempt, PKB_COMMAND_TEARDOWN, is_clean, err);
    if (rc != PKB_OK || !*is_clean)
        return rc;
    rc = pkb_cell_end(attempt->cell, &attempt->finding, err);
    if (rc == PKB_OK)
        pkb_memory_verify_guards(attempt->judge->memory, &attempt->finding);
    return rc != PKB_OK ? rc : pkb_attempt_settle(attempt, is_clean, err);
}

/* What the set-up may look at: values and host arrays of slot 0 exist, data is poison. */
static pkb_code begin_memory(pkb_attempt *attempt, pkb_error *err)
{
    pkb_memory *memory = attempt->judge->memory;
    pkb_code rc = pkb_memory_forget(memory, err);
    for (uint32_t slot = 0; rc == PKB_OK && slot < memory->layout.slot_count; slot++)
        pkb_memory_blank(memory, slot, slot % memory->layout.entry_count, pkb_attempt_key(attempt));
    return rc != PKB_OK ? rc : pkb_judge_world_begin(&attempt->judge->world, err);
}

/* The present part of a size, and since when. */
typedef struct stopwatch {
    pkb_size_result *result;
    pkb_cost part;
    uint64_t since_ns;
} stopwatch;

static void enter(stopwatch *watch, pkb_cost part)
{
    const uint64_t now_ns = pkb_clock_now_ns();
    watch->result->cost_ns[watch->part] += now_ns - watch->since_ns;
    watch->part = part;
    watch->since_ns = now_ns;
}

static pkb_code run_steps(pkb_attempt *attempt, const attempt_request *request, stopwatch *watch,
                          pkb_error *err)
{
    bool is_clean = true;
    pkb_code rc = PKB_OK;

    enter(watch, PKB_COST_LOAD);
    if ((rc = begin_memory(attempt, err)) != PKB_OK ||
        (rc = start_cell(attempt, request, err)) != PKB_OK ||
        (rc = step(attempt, PKB_COMMAND_LOAD, &is_clean, err)) != PKB_OK || !is_clean ||
        (rc = step(attempt, PKB_COMMAND_SETUP, &is_clean, err)) != PKB_OK || !is_clean)
        return rc;
    enter(watch, PKB_COST_CHECK);
    if ((rc = pkb_check_run(attempt, err)) != PKB_OK || !pkb_finding_is_clean(&attempt->worst))
        return rc;
    if (request->has_time) {
        enter(watch, PKB_COST_TIME);
        rc = pkb_timing_run(attempt, watch->result, err);
        if (rc != PKB_OK || !pkb_finding_is_clean(&attempt->worst) || attempt->loud.is_heard)
            return rc;
    }
    enter(watch, PKB_COST_END);
    return finish_cell(attempt, &is_clean, err);
}

/* A cell of its own, from its start to its end. */
static pkb_code run_cell(pkb_attempt *attempt, const attempt_request *request, stopwatch *watch,
                         pkb_error *err)
{
    pkb_judge *judge = attempt->judge;
    pkb_code rc = run_steps(attempt, request, watch, err);

    enter(watch, PKB_COST_END);
    pkb_cell_free(attempt->cell);
    attempt->cell = NULL;
    if (has_debugger(judge, request))
        keep_debug_log(judge, watch->result->size->name);
    /* No cell is left anywhere before anybody fills memory again. */
    return rc != PKB_OK ? rc : pkb_judge_world_barrier(&judge->world, err);
}

/* What was heard is the attempt's if it went with the cell, twice; else it is the node's. */
static pkb_code blame(pkb_attempt *attempt, uint32_t *heard_count, pkb_error *err)
{
    const pkb_loud *then = &attempt->loud;
    pkb_loud now;
    pkb_code rc = pkb_quiet_listen(attempt->judge, attempt->quiet_ns, &now, err);

    if (rc != PKB_OK || now.is_heard || ++*heard_count < 2)
        return rc;
    pkb_finding_init(&attempt->worst, then->rank);
    pkb_finding_set(&attempt->worst, PKB_VERDICT_TIMING_VIOLATION,
                    "rank %u: work of the attempt still ran on the GPU while its process was "
                    "stopped and the reference was to be timed: a kernel of the judge took %.2f "
                    "ms, and %.2f ms without the attempt",
                    then->rank, (double)then->probe_ns / 1e6, (double)attempt->quiet_ns / 1e6);
    snprintf(attempt->worst.phase, sizeof attempt->worst.phase, "timing");
    return PKB_OK;
}

static pkb_code run_once(pkb_attempt *attempt, const attempt_request *request, stopwatch *watch,
                         uint32_t *heard_count, pkb_error *err)
{
    pkb_judge *judge = attempt->judge;
    uint64_t in_use_bytes = 0;
    pkb_code rc = pkb_judge_prepare(judge, watch->result->size, err);

    judge->has_fresh_draws = false;
    if (rc == PKB_OK)
        rc = judge->device->check_health(&in_use_bytes, err);
    if (rc == PKB_OK)
        rc = pkb_quiet_measure(judge, &attempt->quiet_ns, err);
    if (rc == PKB_OK)
        rc = run_cell(attempt, request, watch, err);
    if (rc == PKB_OK && attempt->loud.is_heard)
        rc = blame(attempt, heard_count, err);
    return rc != PKB_OK ? rc : judge->device->check_health(&in_use_bytes, err);
}

/* Once more with a fresh cell where something was heard: the node may have had a bad moment. */
static pkb_code judge_size(pkb_judge *judge, const attempt_request *request,
                           pkb_size_result *result, pkb_error *err)
{
    enum { MOST_TRIES = 4 };
    stopwatch watch = {.result = result, .since_ns = pkb_clock_now_ns()};
    uint32_t heard_count = 0;
    pkb_code rc = pkb_control_progress(&judge->control, result->size->name, "inputs", err);

    for (int i = 0; rc == PKB_OK && i < MOST_TRIES; i++) {
        pkb_attempt attempt = {.judge = judge};
        pkb_finding_init(&attempt.finding, judge->options.rank);
        pkb_finding_init(&attempt.worst, 0);
        result->timing = (pkb_timing){0};
        enter(&watch, PKB_COST_PREPARE);
        rc = run_once(&attempt, request, &watch, &heard_count, err);
        result->finding = attempt.worst;
        if (!attempt.loud.is_heard || !pkb_finding_is_clean(&attempt.worst)) {
            enter(&watch, PKB_COST_END);
            return rc;
        }
    }
    enter(&watch, PKB_COST_END);
    return rc != PKB_OK
               ? rc
               : pkb_error_set(err, PKB_ERR_CUDA, 0,
                               "something else keeps the GPUs busy: a kernel of the judge takes "
                               "longer than it should, with and without the attempt");
}

/* ---- all sizes ---- */

static void read_debug(attempt_request *out, const cJSON *debug)
{
    const cJSON *rank = cJSON_GetObjectItemCaseSensitive(debug, "rank");
    out->debugger = cJSON_IsNumber(rank) ? pkb_json_string_or(debug, "program", NULL) : NULL;
    out->debug_tool = pkb_json_string_or(debug, "tool", "memcheck");
    out->debug_rank = out->debugger != NULL ? (uint32_t)rank->valueint : 0;
}

static pkb_code read_request(attempt_request *out, const cJSON *request, pkb_error *err)
{
    const char *level = pkb_json_string_or(request, "sandbox", "full");
    pkb_code rc = PKB_OK;

    out->id = pkb_json_string_or(request, "id", "");
    out->sizes = cJSON_GetObjectItemCaseSensitive(request, "sizes");
    out->timeouts = cJSON_GetObjectItemCaseSensitive(request, "timeouts");
    out->has_time = !cJSON_IsFalse(cJSON_GetObjectItemCaseSensitive(request, "time"));
    if ((rc = pkb_json_get_string(request, "host", &out->host, err)) != PKB_OK)
        return rc;
    read_debug(out, cJSON_GetObjectItemCaseSensitive(request, "debug"));
    /* For GPUs one file holds both parts. */
    out->device = pkb_json_string_or(request, "device", out->host);
    return pkb_sandbox_level_parse(level, &out->level, err);
}

static bool is_wanted(const attempt_request *request, const pkb_plan_size *size)
{
    const cJSON *name = NULL;
    if (!cJSON_IsArray(request->sizes) || cJSON_GetArraySize(request->sizes) == 0)
        return true;
    cJSON_ArrayForEach(name, request->sizes)
    {
        if (cJSON_IsString(name) &&
            (strcmp(name->valuestring, "all") == 0 || pkb_plan_size_is(size, name->valuestring)))
            return true;
    }
    return false;
}

/* Which sizes are wrong is worth knowing; one that crashed or hung would only do it again. */
static bool goes_on(pkb_verdict verdict)
{
    return verdict == PKB_VERDICT_CORRECT ||
           (verdict >= PKB_VERDICT_STATE_REPLAY && verdict <= PKB_VERDICT_NONDETERMINISTIC);
}

static pkb_code send_verdict(pkb_judge *judge, const pkb_size_result *results, size_t count,
                             pkb_error *err)
{
    cJSON *reference = NULL;
    if (judge->options.rank != 0)
        return PKB_OK;
    pkb_code rc = pkb_runner_describe(judge->runner, &reference, err);
    if (rc != PKB_OK)
        return rc;
    cJSON *verdict = pkb_report_verdict(results, count, judge->options.world);
    cJSON_AddItemToObject(verdict, "reference", reference);
    return pkb_control_send(&judge->control, verdict, err);
}

pkb_code pkb_attempt_judge(pkb_judge *judge, const cJSON *request, pkb_error *err)
{
    attempt_request wanted = {0};
    size_t count = 0;
    pkb_size_result *results = NULL;
    pkb_code rc = read_request(&wanted, request, err);

    if (rc != PKB_OK)
        return rc;
    results = calloc(judge->plan->size_count, sizeof *results);
    if (results == NULL)
        return pkb_error_set(err, PKB_ERR_MEMORY, 0, "out of memory for an attempt's results");
    for (size_t i = 0; rc == PKB_OK && i < judge->plan->size_count; i++) {
        if (!is_wanted(&wanted, &judge->plan->sizes[i]))
            continue;
        results[count].size = &judge->plan->sizes[i];
        rc = judge_size(judge, &wanted, &results[count++], err);
        if (rc != PKB_OK || !goes_on(results[count - 1].finding.verdict))
            break;
        wanted.has_time &= pkb_finding_is_clean(&results[count - 1].finding);
    }
    if (rc == PKB_OK && count == 0)
        rc = pkb_error_set(err, PKB_ERR_USAGE, 0, "no size of the plan is asked for");
    if (rc == PKB_OK)
        rc = send_verdict(judge, results, count, err);
    free(results);
    /* While the evaluator compiles the next attempt, its draws can be made. */
    if (rc == PKB_OK && strcmp(judge->plan->sizes[0].class_name, "tiny") == 0)
        rc = pkb_judge_prepare(judge, &judge->plan->sizes[0], err);
    return rc;
}
