/* SPDX-License-Identifier: Apache-2.0
 *
 * Stages and what is lost between them; see funnel.h.
 */
#include "evaluator/report/funnel.h"

static cJSON *add_stage(cJSON *stages, const char *name, size_t count)
{
    cJSON *stage = cJSON_CreateObject();

    cJSON_AddItemToArray(stages, stage);
    cJSON_AddStringToObject(stage, "stage", name);
    cJSON_AddNumberToObject(stage, "count", (double)count);
    return cJSON_AddObjectToObject(stage, "lost");
}

static size_t lose(cJSON *lost, const char *name, size_t count)
{
    if (count > 0)
        cJSON_AddNumberToObject(lost, name, (double)count);
    return count;
}

static size_t lose_verdict(cJSON *lost, const pkb_score *score, pkb_verdict verdict)
{
    return lose(lost, pkb_verdict_name(verdict), score->verdicts[verdict]);
}

static void set_count(cJSON *stages, size_t count)
{
    cJSON *stage = cJSON_GetArrayItem(stages, cJSON_GetArraySize(stages) - 1);
    cJSON_SetNumberHelper(cJSON_GetObjectItemCaseSensitive(stage, "count"), (double)count);
}

pkb_code pkb_funnel_json(cJSON **out, const pkb_score *score, pkb_error *err)
{
    cJSON *stages = cJSON_CreateArray();
    size_t left = score->all.planned, fast = 0;

    if (stages == NULL)
        return pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for the report");
    add_stage(stages, "asked", left);
    cJSON *lost = add_stage(stages, "extracted", 0);
    left -= lose(lost, "no record", score->all.missing);
    for (int v = PKB_VERDICT_NO_CODE; v <= PKB_VERDICT_TRUNCATED; v++)
        left -= lose_verdict(lost, score, (pkb_verdict)v);
    set_count(stages, left);
    lost = add_stage(stages, "compiled", 0);
    for (int v = PKB_VERDICT_COMPILE_ERROR; v <= PKB_VERDICT_ABI_ERROR; v++)
        left -= lose_verdict(lost, score, (pkb_verdict)v);
    set_count(stages, left);
    lost = add_stage(stages, "correct", score->all.correct);
    lose_verdict(lost, score, PKB_VERDICT_INFRA_ERROR);
    for (int v = PKB_VERDICT_ABI_ERROR + 1; v < PKB_VERDICT_CORRECT; v++)
        lose_verdict(lost, score, (pkb_verdict)v);
    if (score->has_speed) {
        for (size_t i = 0; i < score->problem_count; i++)
            fast += score->problems[i].faster[0].point;
        lost = add_stage(stages, "fast", fast);
        lose(lost, "not timed", score->all.unmeasured);
        lose(lost, "not faster", score->all.correct - fast - score->all.unmeasured);
    }
    *out = stages;
    return PKB_OK;
}
