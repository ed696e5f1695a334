/* SPDX-License-Identifier: Apache-2.0
 *
 * The text of a record, made short: most of a timed one are its batches.
 */
#ifndef PKB_EVALUATOR_RECORD_LINE_H
#define PKB_EVALUATOR_RECORD_LINE_H

#include <stddef.h>

/* Empties every list called "batches", in place; returns the bytes that are left. A list that ends
 * nowhere, or holds what no JSON holds, stays for the parser to refuse. */
size_t pkb_record_line_strip(char *line, size_t bytes);

#endif
