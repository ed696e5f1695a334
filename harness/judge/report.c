/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes verdicts; see report.h. What was not measured is absent.
 */
#include "harness/judge/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/judge/timing.h"

/* A number where the text is one that JSON knows, with all its digits; else a string. */
static void add_number_text(cJSON *object, const char *key, const char *text)
{
    char *end = NULL;
    if (text[0] == '\0')
        return;
    double value = strtod(text, &end);
    if (*end == '\0' && isfinite(value))
        cJSON_AddRawToObject(object, key, text);
    else
        cJSON_AddStringToObject(object, key, text);
}

static void add_text(cJSON *object, const char *key, const char *text)
{
    if (text[0] != '\0')
        cJSON_AddStringToObject(object, key, text);
}

static void add_finding(cJSON *object, const pkb_finding *finding)
{
    cJSON_AddStringToObject(object, "verdict", pkb_verdict_name(finding->verdict));
    add_text(object, "reason", finding->reason);
    if (pkb_finding_is_clean(finding))
        return;
    cJSON *where = cJSON_AddObjectToObject(object, "where");
    cJSON_AddNumberToObject(where, "rank", finding->rank);
    add_text(where, "output", finding->output);
    if (finding->has_index) {
        cJSON *index = cJSON_AddArrayToObject(where, "index");
        for (uint32_t i = 0; i < finding->index_count; i++)
            cJSON_AddItemToArray(index, cJSON_CreateNumber((double)finding->index[i]));
    }
    add_number_text(where, "expected", finding->expected);
    add_number_text(where, "got", finding->got);
    add_text(where, "phase", finding->phase);
    if (finding->signal != 0)
        cJSON_AddNumberToObject(where, "signal", finding->signal);
    if (finding->cuda_error != 0)
        cJSON_AddNumberToObject(where, "cuda_error", finding->cuda_error);
}

static void add_batch(cJSON *list, const char *side, uint32_t pair, uint32_t calls,
                      const uint64_t *rank_ns, uint32_t world)
{
    cJSON *item = cJSON_CreateObject();
    cJSON_AddStringToObject(item, "side", side);
    cJSON_AddNumberToObject(item, "pair", pair);
    cJSON_AddNumberToObject(item, "n", calls);
    cJSON_AddNumberToObject(item, "slowest_ns", (double)pkb_timing_slowest_ns(rank_ns, world));
    cJSON *ranks = cJSON_AddArrayToObject(item, "rank_ns");
    for (uint32_t rank = 0; rank < world; rank++)
        cJSON_AddItemToArray(ranks, cJSON_CreateNumber((double)rank_ns[rank]));
    cJSON_AddItemToArray(list, item);
}

static void add_timing(cJSON *object, const pkb_timing *t, uint32_t world)
{
    if (t->pair_count == 0)
        return;
    pkb_interval speedup = pkb_timing_speedup(t, world);
    cJSON *eager = cJSON_AddObjectToObject(cJSON_AddObjectToObject(object, "speedup"), "eager");
    cJSON_AddNumberToObject(eager, "value", speedup.value);
    cJSON_AddNumberToObject(eager, "low", speedup.low);
    cJSON_AddNumberToObject(eager, "high", speedup.high);
    if (t->is_unstable)
        cJSON_AddTrueToObject(eager, "unstable");

    cJSON *time_us = cJSON_AddObjectToObject(object, "time_us");
    cJSON_AddNumberToObject(time_us, "attempt", pkb_timing_attempt_us(t, world));
    cJSON_AddNumberToObject(time_us, "eager", pkb_timing_reference_us(t, world));
    cJSON_AddStringToObject(object, "traffic", "not_verified");
    cJSON *batches = cJSON_AddArrayToObject(object, "batches");
    for (uint32_t i = 0; i < t->pair_count; i++) {
        add_batch(batches, "eager", i, t->reference_calls, t->pairs[i].reference_ns, world);
        add_batch(batches, "attempt", i, t->attempt_calls, t->pairs[i].attempt_ns, world);
    }
}

/* Parts that were not reached are absent. */
static void add_costs(cJSON *object, const uint64_t cost_ns[PKB_COST_COUNT])
{
    static const char *const names[PKB_COST_COUNT] = {
        [PKB_COST_PREPARE] = "prepare", [PKB_COST_LOAD] = "load", [PKB_COST_CHECK] = "check",
        [PKB_COST_WAIT] = "wait",       [PKB_COST_TIME] = "time", [PKB_COST_END] = "end"};
    cJSON *cost = cJSON_AddObjectToObject(object, "cost_s");

    for (int part = 0; part < PKB_COST_COUNT; part++)
        if (cost_ns[part] > 0) /* microseconds are plenty */
            cJSON_AddNumberToObject(cost, names[part], round((double)cost_ns[part] / 1e3) / 1e6);
}

static cJSON *size_object(const pkb_size_result *result, uint32_t world)
{
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "size", result->size->name);
    cJSON_AddStringToObject(object, "class", result->size->class_name);
    cJSON_AddStringToObject(object, "grid", result->size->grid);
    add_finding(object, &result->finding);
    add_timing(object, &result->timing, world);
    add_costs(object, result->cost_ns);
    if (result->is_cell_reused)
        cJSON_AddTrueToObject(object, "reused_cell");
    return object;
}

static const pkb_finding *worst_of(const pkb_size_result *results, size_t count)
{
    const pkb_finding *worst = &results[0].finding;
    for (size_t i = 1; i < count; i++)
        if (results[i].finding.verdict < worst->verdict)
            worst = &results[i].finding;
    return worst;
}

static bool was_killed(const pkb_size_result *results, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (results[i].finding.was_killed)
            return true;
    return false;
}

cJSON *pkb_report_verdict(const pkb_size_result *results, size_t count, uint32_t world)
{
    cJSON *event = pkb_control_event("verdict");
    uint64_t cost_ns[PKB_COST_COUNT] = {0};

    add_finding(event, worst_of(results, count));
    if (was_killed(results, count))
        cJSON_AddTrueToObject(event, "killed");
    cJSON *sizes = cJSON_AddArrayToObject(event, "sizes");
    for (size_t i = 0; i < count; i++) {
        cJSON_AddItemToArray(sizes, size_object(&results[i], world));
        for (int part = 0; part < PKB_COST_COUNT; part++)
            cost_ns[part] += results[i].cost_ns[part];
    }
    add_costs(event, cost_ns);
    return event;
}
