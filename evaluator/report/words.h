/* SPDX-License-Identifier: Apache-2.0
 *
 * Texts that repeat, each kept once and known by its number.
 */
#ifndef PKB_EVALUATOR_REPORT_WORDS_H
#define PKB_EVALUATOR_REPORT_WORDS_H

#include <stddef.h>

#include "base/buf.h"
#include "base/error.h"

typedef struct pkb_words {
    char **items; /* by number, from 0 */
    size_t count;
    size_t *slots; /* by hash: number + 1; 0 = free */
    size_t slot_count;
} pkb_words;

/* `*number` is that of the text, which is added where it is new. */
pkb_code pkb_words_add(pkb_words *words, const char *text, size_t *number, pkb_error *err);
/* Appends a list of JSON strings. */
void pkb_words_json(pkb_buf *out, const pkb_words *words);
void pkb_words_clear(pkb_words *words);

/* Appends one string as JSON. */
void pkb_words_quote(pkb_buf *out, const char *text);

#endif
