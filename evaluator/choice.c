/* SPDX-License-Identifier: Apache-2.0
 *
 * The problem that a command line names; see choice.h.
 */
#include "evaluator/choice.h"

#include <stdlib.h>

#include "base/fs.h"

pkb_code pkb_choice_open(pkb_choice *out, const char *word, pkb_error *err)
{
    pkb_choice choice = {0};
    const char *name = NULL;

    pkb_code rc = pkb_fs_root(&choice.root, err);
    if (rc == PKB_OK)
        rc = pkb_catalogue_open(&choice.catalogue, choice.root, err);
    if (rc == PKB_OK)
        rc = pkb_catalogue_find(&choice.catalogue, word, &name, err);
    if (rc == PKB_OK)
        rc = pkb_problem_load(&choice.problem, &choice.catalogue, name, err);
    if (rc != PKB_OK) {
        pkb_choice_clear(&choice);
        return rc;
    }
    *out = choice;
    return PKB_OK;
}

void pkb_choice_clear(pkb_choice *choice)
{
    pkb_problem_free(choice->problem);
    pkb_catalogue_clear(&choice->catalogue);
    free(choice->root);
    *choice = (pkb_choice){0};
}
