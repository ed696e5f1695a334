/* SPDX-License-Identifier: Apache-2.0
 *
 * The latest records of a worker by judgement, in bounded memory: an equal request is answered with
 * what was found before.
 */
#ifndef PKB_EVALUATOR_MEMO_H
#define PKB_EVALUATOR_MEMO_H

#include <stddef.h>

#include "base/error.h"
#include "base/hash.h"

enum { PKB_MEMO_ENTRIES = 1024, PKB_MEMO_BYTES = 64 << 20 };

typedef struct pkb_memo_entry {
    char judgement[PKB_HASH_HEX_BYTES];
    char *text;
    size_t bytes;
} pkb_memo_entry;

typedef struct pkb_memo { /* all zero = empty */
    pkb_memo_entry entries[PKB_MEMO_ENTRIES];
    size_t first, count; /* the oldest, and how many follow one another from there */
    size_t bytes;
} pkb_memo;

/* The text kept last under a judgement, valid until the next one is kept; NULL = none. */
const char *pkb_memo_find(const pkb_memo *memo, const char *judgement);
/* Keeps a copy, and drops the oldest where there are too many. One that is too large for all is
 * not kept. */
pkb_code pkb_memo_keep(pkb_memo *memo, const char *judgement, const char *text, pkb_error *err);
void pkb_memo_clear(pkb_memo *memo);

#endif
