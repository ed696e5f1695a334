/* SPDX-License-Identifier: Apache-2.0
 *
 * A score as JSON; see score_print.h. What is undefined is absent.
 */
#include <math.h>

#include "evaluator/score/score_print.h"

enum { SCORE_SCHEMA = 1, MOST_VALUES = 64 };

void pkb_score_json_number(cJSON *to, const char *key, double number)
{
    if (isfinite(number))
        cJSON_AddNumberToObject(to, key, number);
}

cJSON *pkb_score_json_interval(cJSON *to, const char *key, pkb_interval interval)
{
    if (!isfinite(interval.value))
        return NULL;
    cJSON *object = cJSON_AddObjectToObject(to, key);
    cJSON_AddNumberToObject(object, "value", interval.value);
    pkb_score_json_number(object, "low", interval.low);
    pkb_score_json_number(object, "high", interval.high);
    return object;
}

static void add_count(cJSON *to, const char *key, size_t count)
{
    cJSON_AddNumberToObject(to, key, (double)count);
}

/* ---- conditions ---- */

static void add_condition(cJSON *to, const pkb_runset *runset, pkb_condition condition)
{
    const char *key = pkb_condition_key(condition);
    const char *first = pkb_runset_condition(runset, condition);

    if (first == NULL)
        return;
    if (!runset->is_mixed[condition]) {
        cJSON_AddStringToObject(to, key, first);
        return;
    }
    const char *values[MOST_VALUES];
    const size_t count = pkb_runset_values(runset, condition, values, NULL, MOST_VALUES);
    cJSON *list = cJSON_AddArrayToObject(to, key);
    for (size_t i = 0; i < count; i++)
        cJSON_AddItemToArray(list, cJSON_CreateString(values[i]));
}

void pkb_score_json_conditions(cJSON *to, const pkb_runset *runset)
{
    cJSON *conditions = cJSON_AddObjectToObject(to, "conditions");
    cJSON *mixed = cJSON_CreateArray();

    for (int i = 0; i < PKB_CONDITION_COUNT; i++) {
        add_condition(conditions, runset, (pkb_condition)i);
        if (runset->is_mixed[i])
            cJSON_AddItemToArray(mixed, cJSON_CreateString(pkb_condition_name((pkb_condition)i)));
    }
    if (runset->has_mixed_sizes)
        cJSON_AddItemToArray(mixed, cJSON_CreateString("sizes of a problem"));
    if (runset->has_mixed_definitions)
        cJSON_AddItemToArray(mixed, cJSON_CreateString("definitions of a problem"));
    if (mixed->child != NULL)
        cJSON_AddItemToObject(to, "mixed", mixed);
    else
        cJSON_Delete(mixed);
}

/* ---- groups ---- */

static void add_value(cJSON *to, size_t k, const pkb_score_value *value, bool has_bounds)
{
    char key[24];

    snprintf(key, sizeof key, "%zu", k);
    cJSON *object = pkb_score_json_interval(to, key, value->mean);
    if (object == NULL && !(has_bounds && isfinite(value->if_fail)))
        return;
    if (object == NULL) /* for the planned number of attempts only */
        object = cJSON_AddObjectToObject(to, key);
    add_count(object, "problems", value->problems);
    if (has_bounds) {
        pkb_score_json_number(object, "if_fail", value->if_fail);
        pkb_score_json_number(object, "if_pass", value->if_pass);
    }
    pkb_score_json_number(object, "by_low", value->by_low);
    pkb_score_json_number(object, "by_high", value->by_high);
}

static void add_values(cJSON *to, const char *key, const pkb_score_value *values, bool has_bounds)
{
    cJSON *object = cJSON_AddObjectToObject(to, key);
    for (size_t i = 0; i < PKB_SCORE_KS; i++)
        add_value(object, pkb_score_ks[i], &values[i], has_bounds);
}

static void add_group(cJSON *to, const pkb_score_group *group, bool has_speed)
{
    const bool has_bounds = group->judged < group->planned;
    char key[24];

    add_count(to, "problems", group->problems);
    add_count(to, "problems_judged", group->seen);
    add_count(to, "planned", group->planned);
    add_count(to, "judged", group->judged);
    add_count(to, "correct", group->correct);
    add_count(to, "pending", group->pending);
    add_count(to, "unsupported", group->unsupported);
    add_count(to, "missing", group->missing);
    add_count(to, "distinct", group->distinct);
    add_count(to, "problems_solved", group->solved);
    pkb_score_json_number(to, "coverage", pkb_score_coverage(group));
    add_values(to, "pass", group->pass, has_bounds);
    if (!has_speed)
        return;
    cJSON *fast = cJSON_AddObjectToObject(to, "fast"), *straddling = NULL;
    for (size_t p = 0; p < PKB_SCORE_PS; p++) {
        snprintf(key, sizeof key, "%g", pkb_score_ps[p]);
        add_values(fast, key, group->fast[p], has_bounds);
    }
    straddling = cJSON_AddObjectToObject(to, "straddling");
    for (size_t p = 0; p < PKB_SCORE_PS; p++) {
        snprintf(key, sizeof key, "%g", pkb_score_ps[p]);
        add_count(straddling, key, group->straddling[p]);
    }
    add_values(to, "best", group->best, false);
    pkb_score_json_interval(to, "speedup", group->speedup);
    add_count(to, "speedup_of", group->timed);
    add_count(to, "unmeasured", group->unmeasured);
}

static void add_groups(cJSON *to, const char *key, const pkb_score_group *groups, size_t count,
                       bool has_speed)
{
    cJSON *object = cJSON_AddObjectToObject(to, key);
    for (size_t i = 0; i < count; i++)
        add_group(cJSON_AddObjectToObject(object, groups[i].name), &groups[i], has_speed);
}

/* ---- the rest ---- */

static void add_verdicts(cJSON *to, const size_t counts[PKB_VERDICT_COUNT])
{
    cJSON *verdicts = cJSON_AddObjectToObject(to, "verdicts");
    for (int i = 0; i < PKB_VERDICT_COUNT; i++)
        if (counts[i] > 0)
            add_count(verdicts, pkb_verdict_name((pkb_verdict)i), counts[i]);
}

static void add_sizes(cJSON *to, const pkb_score *score)
{
    cJSON *sizes = cJSON_AddObjectToObject(to, "sizes");
    for (int i = 0; i < PKB_SIZE_CLASSES; i++) {
        const pkb_score_size *size = &score->sizes[i];
        if (size->judged == 0)
            continue;
        cJSON *object = cJSON_AddObjectToObject(sizes, pkb_size_class_name((pkb_size_class)i));
        add_count(object, "problems", size->problems);
        add_count(object, "judged", size->judged);
        add_count(object, "reached", size->reached);
        add_count(object, "correct", size->right);
        pkb_score_json_interval(object, "pass_1", size->pass);
        if (score->has_speed && pkb_score_json_interval(object, "speedup", size->speedup) != NULL)
            add_count(object, "speedup_of", size->timed);
    }
}

static void add_problem(cJSON *to, const pkb_score_problem *problem, bool has_speed)
{
    cJSON *object = cJSON_CreateObject();

    cJSON_AddItemToArray(to, object);
    cJSON_AddStringToObject(object, "problem", problem->name);
    cJSON_AddStringToObject(object, "category", problem->category);
    add_count(object, "planned", problem->planned);
    add_count(object, "judged", problem->judged);
    add_count(object, "correct", problem->correct);
    add_count(object, "pending", problem->pending);
    add_count(object, "unsupported", problem->unsupported);
    add_count(object, "missing", problem->missing);
    add_count(object, "distinct", problem->distinct);
    add_verdicts(object, problem->verdicts);
    if (!has_speed)
        return;
    cJSON *faster = cJSON_AddObjectToObject(object, "faster");
    for (size_t p = 0; p < PKB_SCORE_PS; p++) {
        char key[24];
        snprintf(key, sizeof key, "%g", pkb_score_ps[p]);
        add_count(faster, key, problem->faster[p].point);
    }
    if (problem->timed > 0)
        cJSON_AddNumberToObject(object, "speedup",
                                exp(problem->log_speedup / (double)problem->timed));
    add_count(object, "speedup_of", problem->timed);
}

pkb_code pkb_score_json(cJSON **out, const pkb_score *score, pkb_error *err)
{
    const pkb_runset *runset = score->runset;
    cJSON *json = cJSON_CreateObject();

    if (json == NULL)
        return pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for the score");
    add_count(json, "schema", SCORE_SCHEMA);
    cJSON_AddStringToObject(json, "run", runset->name);
    cJSON_AddBoolToObject(json, "complete", score->is_complete);
    cJSON_AddBoolToObject(json, "screened_on_cpu", score->is_screened);
    cJSON_AddStringToObject(json, "planned_by",
                            runset->has_plan ? "plan" : "the problem with most attempts");
    cJSON_AddStringToObject(json, "distinct_by", score->has_sources ? "program" : "bytes");
    add_count(json, "broken_lines", runset->broken_count);
    pkb_score_json_conditions(json, runset);
    cJSON *bootstrap = cJSON_AddObjectToObject(json, "bootstrap");
    add_count(bootstrap, "rounds", PKB_SCORE_ROUNDS);
    cJSON_AddNumberToObject(bootstrap, "seed", (double)score->seed);
    cJSON *notes = cJSON_AddArrayToObject(json, "notes");
    for (size_t i = 0; i < runset->note_count; i++)
        cJSON_AddItemToArray(notes, cJSON_CreateString(runset->notes[i]));
    add_group(cJSON_AddObjectToObject(json, "all"), &score->all, score->has_speed);
    add_verdicts(json, score->verdicts);
    add_sizes(json, score);
    add_groups(json, "categories", score->categories, score->category_count, score->has_speed);
    add_groups(json, "collectives", score->collectives, score->collective_count, score->has_speed);
    cJSON *problems = cJSON_AddArrayToObject(json, "problems");
    for (size_t i = 0; i < score->problem_count; i++)
        add_problem(problems, &score->problems[i], score->has_speed);
    *out = json;
    return PKB_OK;
}
