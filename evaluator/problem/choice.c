/* SPDX-License-Identifier: Apache-2.0
 *
 * The problem that a command line names; see choice.h.
 */
#include "evaluator/problem/choice.h"

#include <stdlib.h>

#include "base/fs.h"
#include "evaluator/problem/selection.h"

error_t pkb_choice_parse(const char **word, const char *verb, int key, char *value,
                         struct argp_state *state)
{
    switch (key) {
    case ARGP_KEY_ARG:
        if (*word != NULL)
            argp_error(state, "one problem at a time, not '%s' as well", value);
        *word = value;
        return 0;
    case ARGP_KEY_END:
        if (*word == NULL)
            argp_error(state, "which problem? pkbench %s 13", verb);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* A category is a natural thing to ask for, and no problem. */
static pkb_code complain(const pkb_catalogue *catalogue, const char *word, pkb_error *err)
{
    bool *is_wanted = calloc(catalogue->count + 1, sizeof *is_wanted);
    size_t count = 0;

    if (is_wanted != NULL && pkb_selection_parse(is_wanted, catalogue, word, NULL) == PKB_OK)
        for (size_t i = 0; i < catalogue->count; i++)
            count += is_wanted[i];
    free(is_wanted);
    if (count > 0)
        return pkb_error_set(err, PKB_ERR_USAGE, 0,
                             "'%s' means %zu problem%s, and one is wanted: pkbench problems %s "
                             "lists %s",
                             word, count, count == 1 ? "" : "s", word, count == 1 ? "it" : "them");
    return PKB_ERR_USAGE; /* as the catalogue said */
}

pkb_code pkb_choice_open(pkb_choice *out, const char *word, pkb_error *err)
{
    pkb_choice choice = {0};
    const char *name = NULL;

    pkb_code rc = pkb_fs_root(&choice.root, err);
    if (rc == PKB_OK)
        rc = pkb_catalogue_open(&choice.catalogue, choice.root, err);
    if (rc == PKB_OK)
        rc = pkb_catalogue_find(&choice.catalogue, word, &name, err);
    if (rc == PKB_ERR_USAGE)
        rc = complain(&choice.catalogue, word, err);
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
