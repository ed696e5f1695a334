/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads lists of problems; see selection.h.
 */
#include "evaluator/problem/selection.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evaluator/problem/problem.h"

enum { MOST_DIGITS = 6 };

/* "7-20": true, with its ends. */
static bool read_range(const char *word, int *first, int *last)
{
    const size_t digits = strspn(word, "0123456789");
    const char *second = word + digits + 1;

    if (digits == 0 || digits > MOST_DIGITS || word[digits] != '-' || second[0] == '\0' ||
        strlen(second) > MOST_DIGITS || second[strspn(second, "0123456789")] != '\0')
        return false;
    *first = (int)strtol(word, NULL, 10);
    *last = (int)strtol(second, NULL, 10);
    return true;
}

static bool select_range(bool *is_wanted, const pkb_catalogue *catalogue, int first, int last)
{
    bool is_any = false;

    for (size_t i = 0; i < catalogue->count; i++) {
        const int number = pkb_catalogue_number(catalogue->names[i]);
        if (number < first || number > last)
            continue;
        is_wanted[i] = is_any = true;
    }
    return is_any;
}

static pkb_code select_category(bool *is_wanted, bool *is_any, const pkb_catalogue *catalogue,
                                const char *word, pkb_error *err)
{
    for (size_t i = 0; i < catalogue->count; i++) {
        pkb_problem *problem = NULL;
        pkb_code rc = pkb_problem_load(&problem, catalogue, catalogue->names[i], err);
        if (rc != PKB_OK)
            return rc;
        if (strcmp(problem->category, word) == 0)
            is_wanted[i] = *is_any = true;
        pkb_problem_free(problem);
    }
    return PKB_OK;
}

static pkb_code select_word(bool *is_wanted, const pkb_catalogue *catalogue, const char *word,
                            pkb_error *err)
{
    int first = 0, last = 0;
    bool is_any = false;
    const char *name = NULL;

    if (strcmp(word, "all") == 0) {
        select_range(is_wanted, catalogue, 0, INT_MAX);
        return PKB_OK;
    }
    if (read_range(word, &first, &last)) {
        if (select_range(is_wanted, catalogue, first, last))
            return PKB_OK;
        return pkb_error_set(err, PKB_ERR_USAGE, 0,
                             "no problem has a number from %d to %d (pkbench problems lists them)",
                             first, last);
    }
    if (pkb_catalogue_find(catalogue, word, &name, NULL) == PKB_OK) {
        select_range(is_wanted, catalogue, pkb_catalogue_number(name), pkb_catalogue_number(name));
        return PKB_OK;
    }
    pkb_code rc = select_category(is_wanted, &is_any, catalogue, word, err);
    if (rc != PKB_OK || is_any)
        return rc;
    return pkb_error_set(err, PKB_ERR_USAGE, 0,
                         "'%s' is no number, range, name or category of a problem (pkbench "
                         "problems lists them); say for instance 1-20,31,tensor",
                         word);
}

pkb_code pkb_selection_parse(bool *is_wanted, const pkb_catalogue *catalogue, const char *list,
                             pkb_error *err)
{
    char *copy = strdup(list), *rest = NULL;
    pkb_code rc = PKB_OK;

    if (copy == NULL)
        return pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for the list of problems");
    memset(is_wanted, 0, catalogue->count * sizeof *is_wanted);
    char *word = strtok_r(copy, ", ", &rest);
    if (word == NULL)
        rc = pkb_error_set(err, PKB_ERR_USAGE, 0, "the list names no problem");
    for (; word != NULL && rc == PKB_OK; word = strtok_r(NULL, ", ", &rest))
        rc = select_word(is_wanted, catalogue, word, err);
    free(copy);
    return rc;
}
