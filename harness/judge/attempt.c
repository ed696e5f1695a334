/* SPDX-License-Identifier: Apache-2.0
 *
 * The steps of an attempt (docs/protocol.md, section 5); see attempt.h.
 */
#include "harness/judge/attempt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/stats.h"
#include "harness/judge/quiet.h"
#include "harness/judge/report.h"
#include "harness/judge/stay.h"
#include "harness/judge/supply.h"
#include "harness/judge/turn.h"

typedef struct attempt_request {
    const char *id;
    const cJSON *sizes;    /* names or classes; NULL = all of the plan */
    const cJSON *timeouts; /* seconds by place in the plan; NULL = the judge's own limit for all */
    bool has_time, takes_turns;
    pkb_supply supply;
    size_t left_count; /* sizes behind the present one */
    bool is_wrong;     /* at an earlier size */
    uint64_t quiet_ns; /* measured when no cell held anything of the attempt */
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

static pkb_code step(pkb_attempt *attempt, pkb_command command, bool *is_clean, pkb_error *err)
{
    const pkb_cell_request request = {.command = command};
    pkb_code rc = pkb_cell_do(attempt->cell, &request, &attempt->finding, err);
    return rc != PKB_OK ? rc : pkb_attempt_settle(attempt, is_clean, err);
}

/* One that is wrong at some sizes gets a cell for each: they all come up at once. */
static bool may_reuse(const attempt_request *request)
{
    return !request->is_wrong && pkb_supply_reuses(&request->supply);
}

/* Afterwards nothing of the attempt runs: the cell has ended, or is vacated and stands still. */
static pkb_code end_or_vacate(pkb_attempt *attempt, const attempt_request *request, pkb_error *err)
{
    if (request->left_count == 0 || !may_reuse(request))
        return pkb_cell_end(attempt->cell, &attempt->finding, err);
    pkb_code rc = pkb_stay_vacate(attempt, &attempt->may_stay, err);
    if (!attempt->may_stay) {
        pkb_cell_free(attempt->cell);
        attempt->cell = NULL;
    }
    return rc;
}

static pkb_code finish_cell(pkb_attempt *attempt, const attempt_request *request, pkb_error *err)
{
    bool is_clean = false;
    pkb_code rc = step(attempt, PKB_COMMAND_TEARDOWN, &is_clean, err);
    if (rc != PKB_OK || !is_clean)
        return rc;
    rc = end_or_vacate(attempt, request, err);
    if (rc == PKB_OK)
        pkb_memory_verify_guards(attempt->judge->memory, &attempt->finding);
    return rc != PKB_OK ? rc : pkb_attempt_settle(attempt, &is_clean, err);
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

/* While it waits, its cell stands still: it must not disturb those that time. */
static pkb_code time_size(pkb_attempt *attempt, const attempt_request *request, stopwatch *watch,
                          pkb_error *err)
{
    pkb_code rc = PKB_OK;

    if (request->takes_turns) {
        enter(watch, PKB_COST_WAIT);
        pkb_cell_stop(attempt->cell, &attempt->finding);
        rc = pkb_turn_take(attempt->judge, err);
    }
    enter(watch, PKB_COST_TIME);
    if (rc == PKB_OK)
        rc = pkb_timing_run(attempt, watch->result, err);
    if (rc == PKB_OK && request->takes_turns)
        rc = pkb_turn_end(attempt->judge, err);
    return rc;
}

/* The one that the size before has left, or a new one. */
static pkb_code take_cell(pkb_attempt *attempt, attempt_request *request, pkb_error *err)
{
    const uint64_t timeout_ns = request_timeout_ns(attempt->judge, request);
    pkb_cell *vacated = request->supply.vacated;
    pkb_code rc = PKB_OK;

    request->supply.vacated = NULL;
    if (vacated != NULL)
        rc = pkb_stay_take(attempt, vacated, timeout_ns, err);
    if (rc != PKB_OK || attempt->cell != NULL)
        return rc;
    return pkb_supply_take(&request->supply, timeout_ns, &attempt->cell, err);
}

/* What an earlier size has left behind, such as a setting of the device that can be made only once,
 * must not make a set-up fail that a new process would pass. */
static bool may_be_leftovers(pkb_verdict verdict)
{
    return verdict == PKB_VERDICT_CRASH || verdict == PKB_VERDICT_TIMEOUT ||
           verdict == PKB_VERDICT_RESOURCE_LIMIT || verdict == PKB_VERDICT_UNSUPPORTED ||
           verdict == PKB_VERDICT_ABI_ERROR;
}

static pkb_code load_and_set_up(pkb_attempt *attempt, attempt_request *request, pkb_error *err)
{
    bool is_clean = false;
    pkb_code rc = begin_memory(attempt, err);

    if (rc == PKB_OK)
        rc = take_cell(attempt, request, err);
    if (rc == PKB_OK)
        rc = step(attempt, PKB_COMMAND_LOAD, &is_clean, err);
    if (rc == PKB_OK && is_clean)
        rc = step(attempt, PKB_COMMAND_SETUP, &is_clean, err);
    if (rc == PKB_OK && !is_clean)
        attempt->is_doubtful =
            pkb_cell_is_used(attempt->cell) && may_be_leftovers(attempt->worst.verdict);
    return rc;
}

static pkb_code run_steps(pkb_attempt *attempt, attempt_request *request, stopwatch *watch,
                          pkb_error *err)
{
    pkb_code rc = PKB_OK;

    enter(watch, PKB_COST_LOAD);
    if ((rc = load_and_set_up(attempt, request, err)) != PKB_OK)
        return rc;
    watch->result->is_cell_reused = pkb_cell_is_used(attempt->cell);
    if (!pkb_finding_is_clean(&attempt->worst))
        return rc;
    enter(watch, PKB_COST_CHECK);
    if ((rc = pkb_check_run(attempt, err)) != PKB_OK || !pkb_finding_is_clean(&attempt->worst))
        return rc;
    if (request->has_time) {
        rc = time_size(attempt, request, watch, err);
        if (rc != PKB_OK || !pkb_finding_is_clean(&attempt->worst) || attempt->loud.is_heard)
            return rc;
    }
    enter(watch, PKB_COST_END);
    return finish_cell(attempt, request, err);
}

/* From the cell's start, or that of its part in this size, to its end. */
static pkb_code run_cell(pkb_attempt *attempt, attempt_request *request, stopwatch *watch,
                         pkb_error *err)
{
    pkb_judge *judge = attempt->judge;
    pkb_code rc = run_steps(attempt, request, watch, err);

    enter(watch, PKB_COST_END);
    if (rc == PKB_OK && attempt->may_stay && pkb_finding_is_clean(&attempt->worst))
        request->supply.vacated = attempt->cell;
    else
        pkb_cell_free(attempt->cell);
    attempt->cell = NULL;
    pkb_supply_keep_log(&request->supply, watch->result->size->name);
    /* No cell of this size is left anywhere before anybody fills memory again. */
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

/* Of the device. What PyTorch only keeps for later is no leftover of anybody's. */
static pkb_code check_health(pkb_judge *judge, uint64_t *in_use_bytes, pkb_error *err)
{
    pkb_code rc = judge->gpus != NULL ? pkb_runner_trim(judge->runner, err) : PKB_OK;
    return rc != PKB_OK ? rc : judge->device->check_health(in_use_bytes, err);
}

static pkb_code run_once(pkb_attempt *attempt, attempt_request *request, stopwatch *watch,
                         uint32_t *heard_count, pkb_error *err)
{
    pkb_judge *judge = attempt->judge;
    uint64_t in_use_bytes = 0;
    pkb_code rc = pkb_stay_drop_size(judge, &request->supply.vacated, err);

    if (rc == PKB_OK) /* they come up while inputs are drawn */
        rc = pkb_supply_begin(&request->supply, may_reuse(request) ? 1 : request->left_count + 1,
                              err);
    if (rc == PKB_OK)
        rc = pkb_judge_prepare(judge, watch->result->size, err);
    judge->has_fresh_draws = false;
    /* What a cell takes before it holds an attempt is no part of what the attempt leaves. */
    if (rc == PKB_OK)
        rc = pkb_supply_await(&request->supply, err);
    if (rc == PKB_OK)
        rc = check_health(judge, &in_use_bytes, err);
    if (rc == PKB_OK && request->supply.vacated == NULL)
        rc = pkb_quiet_measure(judge, &request->quiet_ns, err);
    attempt->quiet_ns = request->quiet_ns;
    if (rc == PKB_OK)
        rc = run_cell(attempt, request, watch, err);
    if (rc == PKB_OK && attempt->loud.is_heard)
        rc = blame(attempt, heard_count, err);
    return rc != PKB_OK ? rc : check_health(judge, &in_use_bytes, err);
}

/* Once more with a fresh cell where something was heard, for the node may have had a bad moment,
 * and where the cell may be to blame. */
static pkb_code judge_size(pkb_judge *judge, attempt_request *request, pkb_size_result *result,
                           pkb_error *err)
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
        if (rc == PKB_OK && attempt.is_doubtful)
            continue;
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

static void read_debug(pkb_supply *out, const cJSON *debug)
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
    out->takes_turns = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(request, "turns"));
    if ((rc = pkb_json_get_string(request, "host", &out->supply.host, err)) != PKB_OK)
        return rc;
    read_debug(&out->supply, cJSON_GetObjectItemCaseSensitive(request, "debug"));
    /* For GPUs one file holds both parts. */
    out->supply.device = pkb_json_string_or(request, "device", out->supply.host);
    return pkb_sandbox_level_parse(level, &out->supply.level, err);
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

/* The sizes asked for, as results to be filled. */
static size_t choose_sizes(const pkb_judge *judge, const attempt_request *wanted,
                           pkb_size_result *results)
{
    size_t count = 0;
    for (size_t i = 0; i < judge->plan->size_count; i++)
        if (is_wanted(wanted, &judge->plan->sizes[i]))
            results[count++].size = &judge->plan->sizes[i];
    return count;
}

/* Until one fails in such a way that the next would only do it again; `*count`: how many were. */
static pkb_code judge_sizes(pkb_judge *judge, attempt_request *wanted, pkb_size_result *results,
                            size_t *count, pkb_error *err)
{
    const size_t all = *count;
    pkb_code rc = PKB_OK;

    for (*count = 0; rc == PKB_OK && *count < all;) {
        pkb_size_result *result = &results[(*count)++];
        wanted->left_count = all - *count;
        rc = judge_size(judge, wanted, result, err);
        if (rc != PKB_OK || !goes_on(result->finding.verdict))
            return rc;
        wanted->is_wrong |= !pkb_finding_is_clean(&result->finding);
        wanted->has_time &= !wanted->is_wrong;
    }
    return rc;
}

pkb_code pkb_attempt_judge(pkb_judge *judge, const cJSON *request, pkb_error *err)
{
    attempt_request wanted = {.supply = {.judge = judge}};
    pkb_size_result *results = NULL;
    pkb_code rc = read_request(&wanted, request, err);

    if (rc != PKB_OK)
        return rc;
    results = calloc(judge->plan->size_count, sizeof *results);
    if (results == NULL)
        return pkb_error_set(err, PKB_ERR_MEMORY, 0, "out of memory for an attempt's results");
    size_t count = choose_sizes(judge, &wanted, results);
    rc = count > 0 ? PKB_OK
                   : pkb_error_set(err, PKB_ERR_USAGE, 0, "no size of the plan is asked for");
    if (rc == PKB_OK)
        rc = judge_sizes(judge, &wanted, results, &count, err);
    pkb_supply_clear(&wanted.supply);
    if (rc == PKB_OK) /* nothing of the attempt is left anywhere when its verdict is told */
        rc = pkb_judge_world_barrier(&judge->world, err);
    if (rc == PKB_OK)
        rc = send_verdict(judge, results, count, err);
    free(results);
    /* While the evaluator compiles the next attempt, its draws can be made. */
    if (rc == PKB_OK && strcmp(judge->plan->sizes[0].class_name, "tiny") == 0)
        rc = pkb_judge_prepare(judge, &judge->plan->sizes[0], err);
    return rc;
}
