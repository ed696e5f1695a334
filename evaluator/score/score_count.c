/* SPDX-License-Identifier: Apache-2.0
 *
 * Attempts counted into problems; see score.h.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "evaluator/problem/problem.h"
#include "evaluator/score/score.h"

static const char unknown[] = "unknown";

static pkb_code no_memory(pkb_error *err)
{
    return pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for the score");
}

/* ---- what the catalogue says of a problem ---- */

static bool is_asked(const pkb_score *score, size_t index, const char *size)
{
    const pkb_runset_problem *from = &score->runset->problems[index];
    const size_t length = strlen(size);

    for (size_t i = 0; i < from->count; i++) {
        const char *asked = score->runset->outcomes[from->first + i].sizes_asked;
        while (asked != NULL && *asked != '\0') {
            const size_t word = strcspn(asked, " ");
            if (word == length && memcmp(asked, size, word) == 0)
                return true;
            asked += word + (asked[word] == ' ');
        }
    }
    return false;
}

/* A class that no attempt came to was asked for all the same. */
static void find_classes(pkb_score *score, pkb_score_problem *problem, const cJSON *sizes)
{
    const size_t index = (size_t)(problem - score->problems);
    const cJSON *size = NULL;

    cJSON_ArrayForEach(size, sizes)
    {
        const char *class = pkb_json_string_or(size, "class", "");
        for (int i = 0; i < PKB_SIZE_CLASSES; i++)
            if (strcmp(class, pkb_size_class_name((pkb_size_class)i)) == 0 &&
                is_asked(score, index, pkb_json_string_or(size, "name", "")))
                problem->asks[i] = true;
    }
}

static pkb_code describe(pkb_score *score, pkb_score_problem *problem,
                         const pkb_catalogue *catalogue, pkb_error *err)
{
    const char *name = NULL;
    pkb_problem *found = NULL;
    const cJSON *item = NULL;

    problem->category = unknown;
    if (pkb_catalogue_find(catalogue, problem->name, &name, NULL) != PKB_OK ||
        strcmp(name, problem->name) != 0)
        return PKB_OK;
    pkb_code rc = pkb_problem_load(&found, catalogue, name, err);
    if (rc != PKB_OK)
        return rc;
    problem->category = pkb_names_keep(&score->names, found->category);
    cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(found->json, "collectives"))
    {
        if (cJSON_IsString(item) && problem->collective_count < PKB_SCORE_LABELS)
            problem->collectives[problem->collective_count++] =
                pkb_names_keep(&score->names, item->valuestring);
    }
    find_classes(score, problem, cJSON_GetObjectItemCaseSensitive(found->json, "sizes"));
    pkb_problem_free(found);
    for (size_t i = 0; i < problem->collective_count; i++)
        if (problem->collectives[i] == NULL)
            return no_memory(err);
    return problem->category != NULL ? PKB_OK : no_memory(err);
}

/* ---- attempts ---- */

static void count_speedup(pkb_score_problem *problem, const pkb_outcome *outcome)
{
    if (!outcome->has_speedup) {
        problem->unmeasured++;
        for (int p = 0; p < PKB_SCORE_PS; p++)
            problem->faster[p].high++; /* nobody knows */
        return;
    }
    problem->logs[problem->timed++] = log(outcome->speedup.value);
    problem->log_speedup += log(outcome->speedup.value);
    for (int p = 0; p < PKB_SCORE_PS; p++) {
        const double value = outcome->speedup.value;
        problem->faster[p].low += fmin(outcome->speedup.low, value) > pkb_score_ps[p];
        problem->faster[p].point += value > pkb_score_ps[p];
        problem->faster[p].high += fmax(outcome->speedup.high, value) > pkb_score_ps[p];
    }
}

static void count_sizes(pkb_score_problem *problem, const pkb_outcome *outcome)
{
    for (int i = 0; i < PKB_SIZE_CLASSES; i++) {
        const pkb_outcome_sizes *sizes = &outcome->sizes[i];
        problem->asks[i] |= sizes->judged > 0;
        problem->reached[i] += sizes->judged > 0;
        problem->right[i] += sizes->judged > 0 && sizes->correct == sizes->judged;
        problem->sizes[i].judged += sizes->judged;
        problem->sizes[i].correct += sizes->correct;
        problem->sizes[i].timed += sizes->timed;
        problem->sizes[i].log_speedup += sizes->log_speedup;
    }
}

static void count_attempt(pkb_score *score, pkb_score_problem *problem, const pkb_outcome *outcome)
{
    score->verdicts[outcome->verdict]++;
    problem->verdicts[outcome->verdict]++;
    if (outcome->verdict == PKB_VERDICT_INFRA_ERROR) {
        problem->pending++;
        return;
    }
    if (outcome->verdict == PKB_VERDICT_UNSUPPORTED) {
        problem->unsupported++;
        return;
    }
    problem->judged++;
    count_sizes(problem, outcome);
    if (outcome->verdict == PKB_VERDICT_CORRECT) {
        problem->correct++;
        count_speedup(problem, outcome);
    }
}

/* ---- what can be said at all ---- */

static bool has_condition(const pkb_runset *runset, pkb_condition condition, const char *value)
{
    for (size_t i = 0; i < runset->count; i++) {
        const char *found = runset->outcomes[i].conditions[condition];
        if (found != NULL && strcmp(found, value) == 0)
            return true;
    }
    return false;
}

static void judge_speed(pkb_score *score)
{
    size_t correct = 0, timed = 0;

    for (size_t i = 0; i < score->problem_count; i++) {
        correct += score->problems[i].correct;
        timed += score->problems[i].timed;
    }
    score->is_screened = has_condition(score->runset, PKB_CONDITION_DEVICE, "cpu");
    score->has_speed = !score->is_screened &&
                       !has_condition(score->runset, PKB_CONDITION_TIMING, "off") &&
                       (timed > 0 || correct == 0);
}

pkb_code pkb_score_count(pkb_score *score, const pkb_catalogue *catalogue, pkb_error *err)
{
    const pkb_runset *runset = score->runset;
    pkb_code rc = PKB_OK;

    score->problem_count = runset->problem_count;
    score->problems = calloc(runset->problem_count + 1, sizeof *score->problems);
    score->logs = calloc(runset->count + 1, sizeof *score->logs);
    if (score->problems == NULL || score->logs == NULL)
        return no_memory(err);
    for (size_t i = 0; i < score->problem_count && rc == PKB_OK; i++) {
        const pkb_runset_problem *from = &runset->problems[i];
        pkb_score_problem *problem = &score->problems[i];
        problem->name = from->name;
        problem->planned = from->planned;
        problem->missing = from->planned - from->count;
        problem->logs = score->logs + from->first;
        for (size_t k = 0; k < from->count; k++)
            count_attempt(score, problem, &runset->outcomes[from->first + k]);
        rc = describe(score, problem, catalogue, err);
    }
    judge_speed(score);
    return rc;
}
