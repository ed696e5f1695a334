/* SPDX-License-Identifier: Apache-2.0
 *
 * Which attempts are meant: by the options, by run.json, by the sources in the folders or, where
 * nobody says more, as many at every problem as at the one that has most. See runset_state.h.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fs.h"
#include "base/json.h"
#include "evaluator/problem/selection.h"
#include "evaluator/score/runset_state.h"

/* Numbers of problems have three digits. */
enum { MOST_SAMPLES = 1000000, MOST_PROBLEMS = 1000 };

static pkb_code no_memory(pkb_error *err)
{
    return pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for the plan");
}

/* ---- the list of problems ---- */

static pkb_code add_problem(pkb_runset *runset, const char *name, pkb_runset_problem **out,
                            pkb_error *err)
{
    const char *kept = pkb_names_keep(&runset->names, name);
    pkb_runset_problem *larger = NULL;

    if (kept == NULL)
        return no_memory(err);
    for (size_t i = 0; i < runset->problem_count; i++)
        if (runset->problems[i].name == kept) {
            *out = &runset->problems[i];
            return PKB_OK;
        }
    if (runset->problem_count == MOST_PROBLEMS)
        return pkb_error_set(err, PKB_ERR_USAGE, 0,
                             "the records and run.json name more than %d problems", MOST_PROBLEMS);
    larger = reallocarray(runset->problems, runset->problem_count + 1, sizeof *larger);
    if (larger == NULL)
        return no_memory(err);
    runset->problems = larger;
    larger[runset->problem_count] = (pkb_runset_problem){.name = kept};
    *out = &larger[runset->problem_count++];
    return PKB_OK;
}

static int compare_problems(const void *a, const void *b)
{
    const pkb_runset_problem *first = a, *second = b;
    return strcmp(first->name, second->name);
}

/* ---- who says what is meant ---- */

pkb_code pkb_runset_select(pkb_runset *runset, const char *list, const pkb_catalogue *catalogue,
                           pkb_error *err)
{
    bool *is_wanted = calloc(catalogue->count + 1, sizeof *is_wanted);
    pkb_runset_problem *added = NULL;

    if (is_wanted == NULL)
        return no_memory(err);
    pkb_code rc = pkb_selection_parse(is_wanted, catalogue, list, err);
    for (size_t i = 0; i < catalogue->count && rc == PKB_OK; i++)
        if (is_wanted[i])
            rc = add_problem(runset, catalogue->names[i], &added, err);
    free(is_wanted);
    return rc;
}

static pkb_code plan_named(pkb_runset *runset, const cJSON *item, const pkb_catalogue *catalogue,
                           const char *path, pkb_error *err)
{
    const char *name = NULL;
    pkb_runset_problem *added = NULL;

    if (!cJSON_IsString(item))
        return pkb_error_set(err, PKB_ERR_USAGE, 0, "\"problems\" of %s is no list of names", path);
    if (pkb_catalogue_find(catalogue, item->valuestring, &name, NULL) != PKB_OK)
        name = item->valuestring;
    return add_problem(runset, name, &added, err);
}

/* What a run.json leaves out it does not say. */
static pkb_code read_plan(pkb_runset *runset, const char *path, const pkb_runset_options *options,
                          const pkb_catalogue *catalogue, size_t *samples, pkb_error *err)
{
    cJSON *plan = NULL;
    int64_t count = 0;
    pkb_code rc = pkb_json_read(&plan, path, err);

    if (rc != PKB_OK)
        return rc == PKB_ERR_FORMAT ? PKB_ERR_USAGE : rc;
    const cJSON *problems = cJSON_GetObjectItemCaseSensitive(plan, "problems"), *item = NULL;
    if (problems != NULL && !cJSON_IsArray(problems)) {
        rc = pkb_error_set(err, PKB_ERR_USAGE, 0, "\"problems\" of %s is no list of names", path);
    } else if (options->problems == NULL) {
        cJSON_ArrayForEach(item, problems)
        {
            if (rc == PKB_OK)
                rc = plan_named(runset, item, catalogue, path, err);
        }
    }
    if (rc == PKB_OK && pkb_json_has(plan, "samples")) {
        rc = pkb_json_get_i64(plan, "samples", &count, err);
        if (rc != PKB_OK || count < 1 || count > MOST_SAMPLES)
            rc = pkb_error_set(err, PKB_ERR_USAGE, 0, "\"samples\" of %s is no number of attempts",
                               path);
        else
            *samples += (size_t)count;
    }
    cJSON_Delete(plan);
    return rc;
}

/* A link that leads nowhere is there, too: whoever made it meant something. */
static bool is_there(const char *path)
{
    struct stat status;
    return lstat(path, &status) == 0;
}

static pkb_code read_plans(pkb_runset *runset, const pkb_runset_options *options,
                           const pkb_catalogue *catalogue, size_t *samples, pkb_error *err)
{
    pkb_code rc = PKB_OK;

    for (size_t i = 0; i < runset->folder_count && rc == PKB_OK; i++) {
        char *path = pkb_fs_join(runset->folders[i].path, "run.json");
        if (path == NULL)
            rc = no_memory(err);
        else if (is_there(path))
            rc = read_plan(runset, path, options, catalogue, samples, err);
        free(path);
    }
    return rc;
}

/* ---- what there is ---- */

/* Sources without a record: their number counts, at problems that are meant. */
static pkb_code count_sources(pkb_runset *runset, const pkb_runset_options *options,
                              const pkb_catalogue *catalogue, pkb_error *err)
{
    pkb_code rc = PKB_OK;

    for (size_t i = 0; i < runset->folder_count && rc == PKB_OK; i++) {
        pkb_runset_folder *folder = &runset->folders[i];
        pkb_error why = {0};
        if (pkb_samples_find(&folder->sources, folder->path, catalogue, &why) != PKB_OK &&
            folder->sources.count > 0)
            rc = pkb_runset_note(runset, err, "%s", why.message);
        for (size_t k = 0; k < folder->sources.count && rc == PKB_OK; k++) {
            const size_t before = runset->problem_count;
            pkb_runset_problem *problem = NULL;
            rc = add_problem(runset, folder->sources.items[k].problem, &problem, err);
            if (rc != PKB_OK || problem == NULL)
                return rc;
            if (options->problems != NULL && runset->problem_count > before)
                runset->problem_count--; /* not meant */
            else
                problem->planned++;
        }
    }
    return rc;
}

static pkb_code place_outcomes(pkb_runset *runset, pkb_error *err)
{
    for (size_t i = 0; i < runset->count; i++) {
        pkb_runset_problem *problem = NULL;
        pkb_code rc = add_problem(runset, runset->outcomes[i].problem, &problem, err);
        if (rc != PKB_OK || problem == NULL)
            return rc;
        if (problem->count++ == 0)
            problem->first = i;
    }
    return PKB_OK;
}

static pkb_code level(pkb_runset *runset, size_t samples, pkb_error *err)
{
    size_t most = 0;

    for (size_t i = 0; i < runset->problem_count; i++) {
        const pkb_runset_problem *problem = &runset->problems[i];
        const size_t seen = problem->planned > problem->count ? problem->planned : problem->count;
        most = seen > most ? seen : most;
    }
    for (size_t i = 0; i < runset->problem_count; i++)
        runset->problems[i].planned = samples > most ? samples : most;
    runset->has_plan = samples > 0;
    if (samples > 0 && most > samples)
        return pkb_runset_note(runset, err,
                               "%zu attempt%s planned at each problem, and one has %zu: that "
                               "many are expected of all",
                               samples, samples == 1 ? " was" : "s were", most);
    return PKB_OK;
}

pkb_code pkb_runset_plan(pkb_runset *runset, const pkb_runset_options *options,
                         const pkb_catalogue *catalogue, pkb_error *err)
{
    size_t samples = 0;
    pkb_code rc = read_plans(runset, options, catalogue, &samples, err);

    if (options->samples > 0)
        samples = options->samples;
    if (rc == PKB_OK)
        rc = count_sources(runset, options, catalogue, err);
    if (rc == PKB_OK)
        rc = place_outcomes(runset, err);
    if (rc == PKB_OK)
        rc = level(runset, samples, err);
    if (rc == PKB_OK && runset->problem_count > 0)
        qsort(runset->problems, runset->problem_count, sizeof *runset->problems, compare_problems);
    return rc;
}
