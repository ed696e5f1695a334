/* SPDX-License-Identifier: Apache-2.0
 *
 * Floors, as Python evaluates them; see floor.h.
 */
#include "evaluator/report/floor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/json.h"
#include "evaluator/machine/module.h"

enum { TIMEOUT_S = 60, FIRST_PROBLEM = 4 };

static bool is_known(const pkb_catalogue *catalogue, const char *problem)
{
    const char *name = NULL;
    return pkb_catalogue_find(catalogue, problem, &name, NULL) == PKB_OK &&
           strcmp(name, problem) == 0;
}

pkb_code pkb_floors_find(pkb_floors *out, const pkb_toolbox *tools, const char *ceilings,
                         const pkb_runset *runset, const pkb_catalogue *catalogue, pkb_error *err)
{
    static const pkb_tool_id needed[] = {PKB_TOOL_PYTHON};
    const char *world = pkb_runset_condition(runset, PKB_CONDITION_WORLD);
    const char **argv = calloc(FIRST_PROBLEM + runset->problem_count + 1, sizeof *argv);
    char *path = NULL;
    size_t count = FIRST_PROBLEM;
    pkb_buf output = {0};
    pkb_code rc = PKB_OK;

    *out = (pkb_floors){0};
    if (argv == NULL)
        return pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for the report");
    path = realpath(ceilings, NULL); /* Python runs in the root */
    rc = path != NULL
             ? pkb_toolbox_require(tools, needed, 1, err)
             : pkb_error_set_errno(err, PKB_ERR_USAGE, "cannot find the ceilings %s", ceilings);
    if (rc != PKB_OK)
        goto cleanup;
    const char *head[FIRST_PROBLEM] = {"harness.runner.floor", path, "-n", world};
    memcpy(argv, head, sizeof head);
    for (size_t i = 0; i < runset->problem_count; i++)
        if (is_known(catalogue, runset->problems[i].name))
            argv[count++] = runset->problems[i].name;
    if (count == FIRST_PROBLEM || runset->is_mixed[PKB_CONDITION_WORLD])
        goto cleanup;
    rc = pkb_module_run(&output, tools, argv, TIMEOUT_S, err);
    if (rc == PKB_OK)
        rc = pkb_json_parse(&out->json, pkb_buf_text(&output), output.bytes,
                            "what harness.runner.floor says", err);
cleanup:
    pkb_buf_clear(&output);
    free(path);
    free(argv);
    return rc;
}

double pkb_floors_us(const pkb_floors *floors, const char *problem, const char *size)
{
    const cJSON *sizes = cJSON_GetObjectItemCaseSensitive(floors->json, problem);
    const cJSON *floor = cJSON_GetObjectItemCaseSensitive(sizes, size);
    return cJSON_IsNumber(floor) && floor->valuedouble > 0 ? floor->valuedouble : 0;
}

void pkb_floors_clear(pkb_floors *floors)
{
    cJSON_Delete(floors->json);
    *floors = (pkb_floors){0};
}
