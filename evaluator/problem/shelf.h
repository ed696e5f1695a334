/* SPDX-License-Identifier: Apache-2.0
 *
 * The problems that a call has opened so far, each read and hashed once.
 */
#ifndef PKB_EVALUATOR_SHELF_H
#define PKB_EVALUATOR_SHELF_H

#include "evaluator/problem/catalogue.h"
#include "evaluator/problem/problem.h"

typedef struct pkb_shelf {
    const pkb_catalogue *catalogue; /* borrowed */
    pkb_problem **problems;         /* by place in it; NULL = not opened yet */
} pkb_shelf;

/* `name` is one of the catalogue's; `*out` is borrowed until the shelf is cleared. */
pkb_code pkb_shelf_get(pkb_shelf *shelf, const char *name, const pkb_problem **out, pkb_error *err);
void pkb_shelf_clear(pkb_shelf *shelf);

#endif
