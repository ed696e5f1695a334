/* SPDX-License-Identifier: Apache-2.0
 *
 * Makes run.json; see run_plan.h.
 */
#include "evaluator/completion/run_plan.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fs.h"
#include "base/json.h"
#include "base/json_list.h"
#include "evaluator/attempt/samples.h"
#include "evaluator/version.h"

enum { SCHEMA = 1, MOST_LISTED = 100 };

static pkb_code no_memory(pkb_error *err)
{
    return pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for the plan of the run");
}

/* ---- what replies say ---- */

static bool add_prompt(pkb_run_plan *plan, const char *problem, const char *sha256)
{
    if (plan->prompts == NULL)
        plan->prompts = cJSON_CreateObject();
    cJSON *list = cJSON_GetObjectItemCaseSensitive(plan->prompts, problem);
    if (list == NULL)
        list = cJSON_AddArrayToObject(plan->prompts, problem);
    return pkb_json_list_add_new(list, sha256, MOST_LISTED);
}

pkb_code pkb_run_plan_take(pkb_run_plan *plan, const pkb_reply *reply, pkb_error *err)
{
    if (reply->model != NULL && plan->models == NULL)
        plan->models = cJSON_CreateArray();
    if (reply->model != NULL && !pkb_json_list_add_new(plan->models, reply->model, MOST_LISTED))
        return no_memory(err);
    if (reply->prompt_sha256 != NULL && !add_prompt(plan, reply->problem, reply->prompt_sha256))
        return no_memory(err);
    return PKB_OK;
}

/* ---- what is there ---- */

/* The problems in the order of their numbers; as many samples as the one has that has most. */
static bool add_matrix(cJSON *to, pkb_run_plan *plan, const pkb_samples *samples)
{
    cJSON *problems = cJSON_AddArrayToObject(to, "problems");
    size_t own = 0;
    bool is_added = problems != NULL;

    for (size_t i = 0; i < samples->count && is_added; i++) {
        const char *problem = samples->items[i].problem;
        const bool is_first = i == 0 || samples->items[i - 1].problem != problem;
        own = is_first ? 1 : own + 1;
        plan->problems += is_first;
        plan->samples = own > plan->samples ? own : plan->samples;
        if (is_first)
            is_added = cJSON_AddItemToArray(problems, cJSON_CreateString(problem));
    }
    return is_added && cJSON_AddNumberToObject(to, "samples", (double)plan->samples) != NULL;
}

static cJSON *make_json(pkb_run_plan *plan, const pkb_samples *samples)
{
    cJSON *json = cJSON_CreateObject();

    cJSON_AddNumberToObject(json, "schema", SCHEMA);
    if (!add_matrix(json, plan, samples)) {
        cJSON_Delete(json);
        return NULL;
    }
    if (plan->models != NULL)
        cJSON_AddItemToObject(json, "models", cJSON_Duplicate(plan->models, true));
    if (plan->prompts != NULL)
        cJSON_AddItemToObject(json, "prompts", cJSON_Duplicate(plan->prompts, true));
    cJSON *versions = cJSON_AddObjectToObject(json, "versions");
    cJSON_AddStringToObject(versions, "pkbench", PKB_VERSION);
    cJSON_AddNumberToObject(versions, "extraction", PKB_EXTRACT_VERSION);
    return json;
}

static pkb_code write_file(pkb_run_plan *plan, const char *path, const pkb_samples *samples,
                           pkb_error *err)
{
    cJSON *json = make_json(plan, samples);
    char *line = json != NULL ? pkb_json_line(json) : NULL;
    pkb_buf text = {0};

    cJSON_Delete(json);
    if (line == NULL)
        return no_memory(err);
    pkb_buf_printf(&text, "%s\n", line);
    cJSON_free(line);
    pkb_code rc = pkb_buf_check(&text, "the plan of the run", err);
    if (rc == PKB_OK)
        rc = pkb_fs_replace(path, pkb_buf_text(&text), text.bytes, err);
    pkb_buf_clear(&text);
    plan->is_new = rc == PKB_OK;
    return rc;
}

pkb_code pkb_run_plan_write(pkb_run_plan *plan, const char *folder, const pkb_catalogue *catalogue,
                            pkb_error *err)
{
    char *path = pkb_fs_join(folder, "run.json");
    pkb_samples samples = {0};
    struct stat status;
    pkb_code rc = PKB_OK;

    if (path == NULL)
        return no_memory(err);
    if (lstat(path, &status) != 0) {
        rc = pkb_samples_find(&samples, folder, catalogue, err);
        if (rc == PKB_OK)
            rc = write_file(plan, path, &samples, err);
    }
    pkb_samples_clear(&samples);
    free(path);
    return rc;
}

void pkb_run_plan_clear(pkb_run_plan *plan)
{
    cJSON_Delete(plan->models);
    cJSON_Delete(plan->prompts);
    *plan = (pkb_run_plan){0};
}
