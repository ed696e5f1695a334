/* SPDX-License-Identifier: Apache-2.0
 *
 * Which problems are meant by a list such as "1-20,31,tensor": numbers, ranges, names, categories,
 * or all.
 */
#ifndef PKB_EVALUATOR_SELECTION_H
#define PKB_EVALUATOR_SELECTION_H

#include <stdbool.h>

#include "base/error.h"
#include "evaluator/problem/catalogue.h"

/* Sets `is_wanted` (one for each problem of the catalogue) for those that `list` names, the others
 * to false. PKB_ERR_USAGE names the word that means no problem. */
pkb_code pkb_selection_parse(bool *is_wanted, const pkb_catalogue *catalogue, const char *list,
                             pkb_error *err);

#endif
