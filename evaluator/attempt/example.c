/* SPDX-License-Identifier: Apache-2.0
 *
 * Judges a problem's example; see example.h.
 */
#include "evaluator/attempt/example.h"

#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/json.h"

/* Our own record is not the attempt's: only what tells whether, and how, the ranks are well. */
static cJSON *excerpt(const cJSON *record, const pkb_evaluation *broken)
{
    static const char *const kept[] = {"source", "verdict", "reason", "cost_s"};
    cJSON *control = cJSON_CreateObject();

    cJSON_AddStringToObject(control, "after", pkb_json_string_or(broken->record, "reason", ""));
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++) {
        const cJSON *value = cJSON_GetObjectItemCaseSensitive(record, kept[i]);
        if (value != NULL)
            cJSON_AddItemToObject(control, kept[i], cJSON_Duplicate(value, true));
    }
    return control;
}

static pkb_code judge_file(cJSON **control, const char *path, const pkb_evaluation *broken,
                           pkb_ranks *ranks, pkb_error *err)
{
    pkb_evaluation example = {
        .setting = broken->setting, .problem = broken->problem, .file = path, .is_control = true};

    pkb_code rc = pkb_evaluation_read(&example, err);
    if (rc == PKB_OK)
        rc = pkb_evaluation_try(&example, ranks, err);
    if (rc == PKB_OK)
        *control = excerpt(example.record, broken);
    if (rc == PKB_OK && pkb_record_is_pending(example.record))
        pkb_ranks_end(ranks);
    pkb_evaluation_clear(&example);
    return rc;
}

pkb_code pkb_example_judge(cJSON **control, const pkb_evaluation *broken, pkb_ranks *ranks,
                           pkb_error *err)
{
    pkb_buf path = {0};

    *control = NULL;
    pkb_buf_printf(&path, "%s/examples/%s.cu", broken->setting->tools.root,
                   broken->problem->full_name);
    pkb_code rc = pkb_buf_check(&path, "an example's path", err);
    if (rc == PKB_OK && pkb_fs_exists(pkb_buf_text(&path)))
        rc = judge_file(control, pkb_buf_text(&path), broken, ranks, err);
    pkb_buf_clear(&path);
    return rc;
}

bool pkb_example_has_passed(const cJSON *control)
{
    return strcmp(pkb_json_string_or(control, "verdict", ""),
                  pkb_verdict_name(PKB_VERDICT_CORRECT)) == 0;
}
