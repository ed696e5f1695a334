/* SPDX-License-Identifier: Apache-2.0
 *
 * Asks Python for the plan; see plan.h.
 */
#include "evaluator/ranks/plan.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "evaluator/machine/process.h"

enum { RESOLVE_TIMEOUT_S = 30, RESOLVER_REFUSED = 2 };

static pkb_code run_resolver(pkb_buf *output, const pkb_toolbox *tools,
                             const pkb_plan_request *request, pkb_error *err)
{
    enum { MAX_WORDS = 16 };
    char world[16];
    const char *argv[MAX_WORDS] = {tools->tools[PKB_TOOL_PYTHON].path,
                                   "-m",
                                   "harness.runner.resolve",
                                   request->problem,
                                   "-n",
                                   world,
                                   "--sizes",
                                   request->sizes,
                                   "--device",
                                   request->device};
    const pkb_process_options options = {.argv = argv, .directory = tools->root};
    pkb_child_exit how = {0};

    snprintf(world, sizeof world, "%d", request->world);
    if (request->grid != NULL) {
        argv[10] = "--grid";
        argv[11] = request->grid;
    }
    pkb_code rc = pkb_process_run(&options, RESOLVE_TIMEOUT_S * PKB_NS_PER_S, &how, output, err);
    if (rc != PKB_OK || (how.exited && how.status == 0))
        return rc;
    const char *text = pkb_buf_text(output);
    if (how.exited && how.status == RESOLVER_REFUSED)
        return pkb_error_set(err, PKB_ERR_USAGE, 0, "%.*s", (int)strcspn(text, "\n"), text);
    while (strchr(text, '\n') != NULL && strchr(text, '\n')[1] != '\0')
        text = strchr(text, '\n') + 1; /* a traceback says what it is in its last line */
    return pkb_error_set(err, PKB_ERR_CHILD, how.status, "python -m harness.runner.resolve: %.*s",
                         (int)strcspn(text, "\n"), text);
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
