/* SPDX-License-Identifier: Apache-2.0
 *
 * Asks Python for the plan; see plan.h.
 */
#include "evaluator/ranks/plan.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "evaluator/machine/module.h"

enum { RESOLVE_TIMEOUT_S = 30 };

static pkb_code run_resolver(pkb_buf *output, const pkb_toolbox *tools,
                             const pkb_plan_request *request, pkb_error *err)
{
    char world[16];
    const char *const argv[] = {"harness.runner.resolve",
                                request->problem,
                                "-n",
                                world,
                                "--sizes",
                                request->sizes,
                                "--device",
                                request->device,
                                request->grid != NULL ? "--grid" : NULL,
                                request->grid,
                                NULL};

    snprintf(world, sizeof world, "%d", request->world);
    return pkb_module_run(output, tools, argv, RESOLVE_TIMEOUT_S, err);
}

static pkb_code collect_sizes(pkb_plan *plan, pkb_error *err)
{
    const cJSON *list = NULL, *item = NULL, *known = NULL;
    pkb_code rc = pkb_json_get_array(plan->json, "sizes", &list, err);

    plan->sizes = cJSON_CreateArray();
    cJSON_ArrayForEach(item, list)
    {
        const char *name = pkb_json_string_or(item, "size", "");
        bool is_known = false;
        cJSON_ArrayForEach(known, plan->sizes) is_known |= strcmp(known->valuestring, name) == 0;
        if (!is_known)
            cJSON_AddItemToArray(plan->sizes, cJSON_CreateString(name));
    }
    return rc;
}

pkb_code pkb_plan_resolve(pkb_plan *out, const pkb_toolbox *tools, const pkb_plan_request *request,
                          pkb_error *err)
{
    pkb_plan plan = {0};
    pkb_code rc = run_resolver(&plan.text, tools, request, err);
    if (rc == PKB_OK)
        rc = pkb_json_parse(&plan.json, pkb_buf_text(&plan.text), plan.text.bytes,
                            "the plan of harness.runner.resolve", err);
    if (rc == PKB_OK)
        rc = collect_sizes(&plan, err);
    if (rc != PKB_OK) {
        pkb_plan_clear(&plan);
        return rc;
    }
    *out = plan;
    return PKB_OK;
}

pkb_code pkb_plan_check(const pkb_plan *plan, const pkb_problem *problem, pkb_error *err)
{
    const cJSON *sizes = cJSON_GetObjectItemCaseSensitive(plan->json, "sizes"), *size = NULL;
    cJSON_ArrayForEach(size, sizes)
    {
        const cJSON *dims = cJSON_GetObjectItemCaseSensitive(size, "dims"), *dim = NULL;
        size_t count = 0;
        cJSON_ArrayForEach(dim, dims)
        {
            if (count == problem->dim_count ||
                strcmp(pkb_json_string_or(dim, "name", ""), problem->dims[count]) != 0)
                break;
            count++;
        }
        if (dim != NULL || count != problem->dim_count)
            return pkb_error_set(err, PKB_ERR_FORMAT, 0,
                                 "%s: the resolver's dims are not those of problem.h",
                                 problem->full_name);
    }
    return PKB_OK;
}

void pkb_plan_clear(pkb_plan *plan)
{
    pkb_buf_clear(&plan->text);
    cJSON_Delete(plan->json);
    cJSON_Delete(plan->sizes);
    *plan = (pkb_plan){0};
}
