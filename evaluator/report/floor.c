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

enum { TIMEOUT_S = 60, FIRST_PROBLEM = 4, MOST_SHOWN = 8 };

static bool is_known(const pkb_catalogue *catalogue, const char *problem)
{
    const char *name = NULL;
    return pkb_catalogue_find(catalogue, problem, &name, NULL) == PKB_OK &&
           strcmp(name, problem) == 0;
}

static void list_worlds(pkb_buf *out, const pkb_runset *runset)
{
    const char *worlds[MOST_SHOWN];
    const size_t count = pkb_runset_values(runset, PKB_CONDITION_WORLD, worlds, NULL, MOST_SHOWN);

    for (size_t i = 0; i < count; i++)
        pkb_buf_printf(out, "%s%s", i > 0 ? " and " : "", worlds[i]);
}

/* Appends nothing where there may be floors. */
static void say_why_not(pkb_buf *out, const pkb_score *score, size_t known_count)
{
    if (!score->has_speed) {
        pkb_buf_append_string(out, "its attempts were not timed on GPUs");
    } else if (known_count == 0) {
        pkb_buf_append_string(out, "none of its problems is known here");
    } else if (score->runset->is_mixed[PKB_CONDITION_WORLD]) {
        pkb_buf_append_string(out, "a floor is of one number of ranks, and its attempts had ");
        list_worlds(out, score->runset);
        pkb_buf_append_string(out, "; take one with --world");
    }
}

/* Appends those that the catalogue has; returns how many. */
static size_t add_known(const char **argv, const pkb_runset *runset, const pkb_catalogue *catalogue)
{
    size_t count = 0;

    for (size_t i = 0; i < runset->problem_count; i++)
        if (is_known(catalogue, runset->problems[i].name))
            argv[count++] = runset->problems[i].name;
    return count;
}

static pkb_code ask(pkb_floors *out, const pkb_toolbox *tools, const char **argv, pkb_error *err)
{
    pkb_buf output = {0};
    pkb_code rc = pkb_module_run(&output, tools, argv, TIMEOUT_S, err);

    if (rc == PKB_OK)
        rc = pkb_json_parse(&out->json, pkb_buf_text(&output), output.bytes,
                            "what harness.runner.floor says", err);
    pkb_buf_clear(&output);
    return rc;
}

pkb_code pkb_floors_find(pkb_floors *out, const pkb_toolbox *tools, const char *ceilings,
                         const pkb_score *score, const pkb_catalogue *catalogue, pkb_error *err)
{
    static const pkb_tool_id needed[] = {PKB_TOOL_PYTHON};
    const pkb_runset *runset = score->runset;
    const char **argv = calloc(FIRST_PROBLEM + runset->problem_count + 1, sizeof *argv);

    *out = (pkb_floors){0};
    if (argv == NULL)
        return pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for the report");
    char *path = realpath(ceilings, NULL); /* Python runs in the root */
    const char *head[FIRST_PROBLEM] = {"harness.runner.floor", path, "-n",
                                       pkb_runset_condition(runset, PKB_CONDITION_WORLD)};
    memcpy(argv, head, sizeof head);
    say_why_not(&out->why, score, add_known(argv + FIRST_PROBLEM, runset, catalogue));
    pkb_code rc = pkb_buf_check(&out->why, "why there is no floor", err);
    if (rc == PKB_OK && path == NULL)
        rc = pkb_error_set_errno(err, PKB_ERR_USAGE, "cannot find the ceilings %s", ceilings);
    if (rc == PKB_OK && out->why.bytes == 0)
        rc = pkb_toolbox_require(tools, needed, 1, err);
    if (rc == PKB_OK && out->why.bytes == 0)
        rc = ask(out, tools, argv, err);
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
    pkb_buf_clear(&floors->why);
    *floors = (pkb_floors){0};
}
