/* SPDX-License-Identifier: Apache-2.0
 *
 * Strings that many records share, each kept once: equal ones have one address.
 */
#ifndef PKB_EVALUATOR_NAMES_H
#define PKB_EVALUATOR_NAMES_H

#include <stddef.h>

typedef struct pkb_names {
    char **items; /* by hash; NULL = free */
    size_t count, capacity;
} pkb_names;

/* Valid until the names are cleared; NULL: out of memory. */
const char *pkb_names_keep(pkb_names *names, const char *text);
void pkb_names_clear(pkb_names *names);

#endif
