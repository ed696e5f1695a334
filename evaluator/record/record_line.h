/* SPDX-License-Identifier: Apache-2.0
 *
 * The text of a record, made short: most of a timed one are its batches.
 */
#ifndef PKB_EVALUATOR_RECORD_LINE_H
#define PKB_EVALUATOR_RECORD_LINE_H

#include <stddef.h>

/* What was in the lists that are gone. */
typedef struct pkb_record_batches {
    size_t count;        /* of batches */
    size_t lists;        /* "rank_ns" in them: one a batch */
    size_t fewest, most; /* times in such a list: one a rank */
} pkb_record_batches;

/* Empties every list called "batches", in place; returns the bytes that are left. A list that ends
 * nowhere, or holds what no batch holds, stays as it is. `found` may be NULL. */
size_t pkb_record_line_strip(char *line, size_t bytes, pkb_record_batches *found);

#endif
