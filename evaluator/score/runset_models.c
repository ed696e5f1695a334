/* SPDX-License-Identifier: Apache-2.0
 *
 * The models of a run, read from the files beside its sources; see runset_models.h.
 */
#include "evaluator/score/runset_models.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/fs.h"
#include "base/json.h"
#include "base/json_list.h"
#include "evaluator/attempt/sample_status.h"
#include "evaluator/console/interrupt.h"

enum { MOST_MODELS = 64 };

static pkb_code add(cJSON *models, const char *model, pkb_error *err)
{
    if (pkb_json_list_add_new(models, model, MOST_MODELS))
        return PKB_OK;
    return pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for the names of models");
}

static pkb_code add_of_sample(cJSON *models, const pkb_runset *runset, const pkb_outcome *outcome,
                              pkb_error *err)
{
    const char *source = pkb_runset_source(runset, outcome);
    char *model = NULL;

    pkb_code rc = pkb_interrupt_check(err);
    if (rc == PKB_OK && source != NULL)
        rc = pkb_sample_status_model(&model, source, err);
    if (rc == PKB_OK && model != NULL)
        rc = add(models, model, err);
    free(model);
    return rc;
}

/* A run.json that is no JSON was refused before. */
static pkb_code add_planned(cJSON *models, const pkb_runset_folder *folder, pkb_error *err)
{
    char *path = pkb_fs_join(folder->path, "run.json");
    const cJSON *item = NULL;
    cJSON *plan = NULL;
    pkb_code rc = PKB_OK;

    if (path == NULL)
        return pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for the plan of a run");
    if (pkb_fs_exists(path))
        rc = pkb_json_read(&plan, path, err);
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(plan, "models");
    bool is_list = list == NULL || cJSON_IsArray(list);
    cJSON_ArrayForEach(item, list)
    {
        is_list &= cJSON_IsString(item);
        if (rc == PKB_OK && is_list)
            rc = add(models, item->valuestring, err);
    }
    if (rc == PKB_OK && !is_list)
        rc = pkb_error_set(err, PKB_ERR_USAGE, 0, "\"models\" of %s is no list of names", path);
    cJSON_Delete(plan);
    free(path);
    return rc;
}

pkb_code pkb_runset_models(cJSON *models, const pkb_runset *runset, pkb_error *err)
{
    pkb_code rc = PKB_OK;

    for (size_t i = 0; i < runset->count && rc == PKB_OK; i++)
        rc = add_of_sample(models, runset, &runset->outcomes[i], err);
    for (size_t i = 0; i < runset->folder_count && rc == PKB_OK; i++)
        rc = add_planned(models, &runset->folders[i], err);
    return rc;
}
