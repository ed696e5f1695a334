/* SPDX-License-Identifier: Apache-2.0
 *
 * Keeps problems; see shelf.h.
 */
#include "evaluator/problem/shelf.h"

#include <stdlib.h>
#include <string.h>

static pkb_code load(pkb_problem **out, const pkb_catalogue *catalogue, const char *name,
                     pkb_error *err)
{
    pkb_problem *problem = NULL;
    pkb_code rc = pkb_problem_load(&problem, catalogue, name, err);

    if (rc == PKB_OK)
        rc = pkb_problem_hash(problem, err);
    if (rc != PKB_OK) {
        pkb_problem_free(problem);
        return rc;
    }
    *out = problem;
    return PKB_OK;
}

pkb_code pkb_shelf_get(pkb_shelf *shelf, const char *name, const pkb_problem **out, pkb_error *err)
{
    const pkb_catalogue *catalogue = shelf->catalogue;
    size_t place = 0;
    pkb_code rc = PKB_OK;

    if (shelf->problems == NULL)
        shelf->problems = calloc(catalogue->count + 1, sizeof(pkb_problem *));
    if (shelf->problems == NULL)
        return pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for the problems");
    while (place < catalogue->count && strcmp(catalogue->names[place], name) != 0)
        place++;
    if (place == catalogue->count)
        return pkb_error_set(err, PKB_ERR_USAGE, 0, "there is no problem %s", name);
    if (shelf->problems[place] == NULL)
        rc = load(&shelf->problems[place], catalogue, catalogue->names[place], err);
    if (rc == PKB_OK)
        *out = shelf->problems[place];
    return rc;
}

void pkb_shelf_clear(pkb_shelf *shelf)
{
    for (size_t i = 0; shelf->problems != NULL && i < shelf->catalogue->count; i++)
        pkb_problem_free(shelf->problems[i]);
    free(shelf->problems);
    shelf->problems = NULL;
}
