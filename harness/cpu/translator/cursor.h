/* SPDX-License-Identifier: Apache-2.0
 *
 * A reader's place in the tokens. The first failure sticks: later calls return the final token,
 * so loops that watch pkb_ptx_cursor_is_at_end stop and nobody has to check each step.
 */
#ifndef PKB_PTX_CURSOR_H
#define PKB_PTX_CURSOR_H

#include "harness/cpu/translator/token.h"

typedef struct pkb_ptx_cursor {
    const pkb_ptx_token *tokens;
    size_t at, end; /* tokens[end] is the last that may be looked at */
    pkb_code rc;
    pkb_error *err;
} pkb_ptx_cursor;

const pkb_ptx_token *pkb_ptx_peek(const pkb_ptx_cursor *cursor);
const pkb_ptx_token *pkb_ptx_next(pkb_ptx_cursor *cursor);
bool pkb_ptx_is_at_end(const pkb_ptx_cursor *cursor);

/* Steps over the next token when it is `text`. */
bool pkb_ptx_accept(pkb_ptx_cursor *cursor, const char *text);

/* The same, but anything else is a failure. */
void pkb_ptx_expect(pkb_ptx_cursor *cursor, const char *text);

/* The next token, which must be a word. */
const pkb_ptx_token *pkb_ptx_expect_word(pkb_ptx_cursor *cursor);

/* The next token, which must be an integer of at most `limit`; 0 after a failure. */
uint64_t pkb_ptx_expect_integer(pkb_ptx_cursor *cursor, uint64_t limit);

/* Steps over all up to and including the brace that closes the one just passed. */
void pkb_ptx_skip_braces(pkb_ptx_cursor *cursor);

/* Steps over all up to and including `text`. */
void pkb_ptx_skip_past(pkb_ptx_cursor *cursor, const char *text);

void pkb_ptx_fail(pkb_ptx_cursor *cursor, const char *what);
void pkb_ptx_fail_memory(pkb_ptx_cursor *cursor);

#endif
