/* SPDX-License-Identifier: Apache-2.0
 *
 * The numbers of a run, from its attempts; see score.h.
 */
#include "evaluator/score/score.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static pkb_code no_memory(pkb_error *err)
{
    return pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for the score");
}

/* ---- groups ---- */

/* One label a problem (its category), or several (its collectives). */
typedef const char *get_label(const pkb_score_problem *problem, size_t index);

static const char *get_category(const pkb_score_problem *problem, size_t index)
{
    return index == 0 ? problem->category : NULL;
}

static const char *get_collective(const pkb_score_problem *problem, size_t index)
{
    return index < problem->collective_count ? problem->collectives[index] : NULL;
}

static bool has_label(const pkb_score_problem *problem, get_label *label, const char *name)
{
    const char *found = NULL;
    for (size_t i = 0; (found = label(problem, i)) != NULL; i++)
        if (strcmp(found, name) == 0)
            return true;
    return false;
}

static pkb_code add_group(pkb_score_group **groups, size_t *count, const char *name, pkb_error *err)
{
    for (size_t i = 0; i < *count; i++)
        if (strcmp((*groups)[i].name, name) == 0)
            return PKB_OK;
    pkb_score_group *larger = reallocarray(*groups, *count + 1, sizeof *larger);
    if (larger == NULL)
        return no_memory(err);
    *groups = larger;
    larger[(*count)++] = (pkb_score_group){.name = name};
    return PKB_OK;
}

static int compare_groups(const void *a, const void *b)
{
    return strcmp(((const pkb_score_group *)a)->name, ((const pkb_score_group *)b)->name);
}

static pkb_code fill_groups(pkb_score *score, pkb_score_group **groups, size_t *count,
                            get_label *label, pkb_error *err)
{
    size_t *members = calloc(score->problem_count + 1, sizeof *members);
    pkb_code rc = PKB_OK;
    const char *name = NULL;

    if (members == NULL)
        return no_memory(err);
    for (size_t i = 0; i < score->problem_count; i++)
        for (size_t k = 0; rc == PKB_OK && (name = label(&score->problems[i], k)) != NULL; k++)
            rc = add_group(groups, count, name, err);
    if (*count > 0)
        qsort(*groups, *count, sizeof **groups, compare_groups);
    for (size_t g = 0; g < *count && rc == PKB_OK; g++) {
        pkb_score_members list = {.items = members};
        for (size_t i = 0; i < score->problem_count; i++)
            if (has_label(&score->problems[i], label, (*groups)[g].name))
                members[list.count++] = i;
        rc = pkb_score_group_fill(&(*groups)[g], score, list, err);
    }
    free(members);
    return rc;
}

static pkb_code fill_all(pkb_score *score, pkb_error *err)
{
    size_t *members = calloc(score->problem_count + 1, sizeof *members);

    if (members == NULL)
        return no_memory(err);
    for (size_t i = 0; i < score->problem_count; i++)
        members[i] = i;
    score->all.name = "all";
    pkb_code rc = pkb_score_group_fill(&score->all, score,
                                       (pkb_score_members){members, score->problem_count}, err);
    free(members);
    return rc;
}

/* ---- the whole ---- */

double pkb_score_coverage(const pkb_score_group *group)
{
    return group->planned > 0 ? (double)group->judged / (double)group->planned : NAN;
}

pkb_code pkb_score_make(pkb_score *out, const pkb_runset *runset, const pkb_catalogue *catalogue,
                        uint64_t seed, pkb_error *err)
{
    *out = (pkb_score){.runset = runset, .seed = seed};
    pkb_code rc = pkb_score_count(out, catalogue, err);
    if (rc == PKB_OK)
        rc = pkb_score_count_programs(out, err);
    if (rc == PKB_OK)
        rc = fill_all(out, err);
    if (rc == PKB_OK)
        rc = fill_groups(out, &out->categories, &out->category_count, get_category, err);
    if (rc == PKB_OK)
        rc = fill_groups(out, &out->collectives, &out->collective_count, get_collective, err);
    for (int i = 0; i < PKB_SIZE_CLASSES && rc == PKB_OK; i++)
        rc = pkb_score_size_fill(&out->sizes[i], out, (pkb_size_class)i, err);
    out->is_complete = out->all.missing == 0 && out->all.pending == 0 && runset->broken_count == 0;
    return rc;
}

void pkb_score_clear(pkb_score *score)
{
    pkb_names_clear(&score->names);
    free(score->problems);
    free(score->logs);
    free(score->categories);
    free(score->collectives);
    *score = (pkb_score){0};
}
