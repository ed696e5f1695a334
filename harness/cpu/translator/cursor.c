/* SPDX-License-Identifier: Apache-2.0
 *
 * Reading tokens with a sticky failure; see cursor.h.
 */
#include "harness/cpu/translator/cursor.h"

const pkb_ptx_token *pkb_ptx_peek(const pkb_ptx_cursor *cursor)
{
    return &cursor->tokens[cursor->rc == PKB_OK ? cursor->at : cursor->end];
}

const pkb_ptx_token *pkb_ptx_next(pkb_ptx_cursor *cursor)
{
    const pkb_ptx_token *token = pkb_ptx_peek(cursor);
    if (cursor->at < cursor->end)
        cursor->at++;
    return token;
}

bool pkb_ptx_is_at_end(const pkb_ptx_cursor *cursor)
{
    return cursor->rc != PKB_OK || cursor->at >= cursor->end;
}

bool pkb_ptx_accept(pkb_ptx_cursor *cursor, const char *text)
{
    if (pkb_ptx_is_at_end(cursor) || !pkb_ptx_token_is(pkb_ptx_peek(cursor), text))
        return false;
    cursor->at++;
    return true;
}

void pkb_ptx_expect(pkb_ptx_cursor *cursor, const char *text)
{
    if (pkb_ptx_accept(cursor, text) || cursor->rc != PKB_OK)
        return;
    const pkb_ptx_token *token = pkb_ptx_peek(cursor);
    cursor->rc =
        pkb_error_set(cursor->err, PKB_ERR_FORMAT, 0, "PTX line %u: expected '%s', found '%.*s'",
                      token->line, text, token->length > 60 ? 60 : (int)token->length, token->text);
}

const pkb_ptx_token *pkb_ptx_expect_word(pkb_ptx_cursor *cursor)
{
    if (pkb_ptx_peek(cursor)->kind != PKB_PTX_WORD)
        pkb_ptx_fail(cursor, "expected a name");
    return pkb_ptx_next(cursor);
}

uint64_t pkb_ptx_expect_integer(pkb_ptx_cursor *cursor, uint64_t limit)
{
    const pkb_ptx_token *token = pkb_ptx_next(cursor);
    if (cursor->rc == PKB_OK && token->kind == PKB_PTX_INTEGER && token->bits <= limit)
        return token->bits;
    pkb_ptx_fail(cursor, "expected a number in range");
    return 0;
}

void pkb_ptx_skip_braces(pkb_ptx_cursor *cursor)
{
    for (size_t depth = 1; depth > 0;) {
        if (pkb_ptx_is_at_end(cursor)) {
            pkb_ptx_fail(cursor, "missing '}'");
            return;
        }
        const pkb_ptx_token *token = pkb_ptx_next(cursor);
        if (pkb_ptx_token_is(token, "{"))
            depth++;
        else if (pkb_ptx_token_is(token, "}"))
            depth--;
    }
}

void pkb_ptx_skip_past(pkb_ptx_cursor *cursor, const char *text)
{
    while (!pkb_ptx_accept(cursor, text)) {
        if (pkb_ptx_is_at_end(cursor)) {
            pkb_ptx_fail(cursor, "unexpected end");
            return;
        }
        cursor->at++;
    }
}

void pkb_ptx_fail(pkb_ptx_cursor *cursor, const char *what)
{
    if (cursor->rc != PKB_OK)
        return;
    const pkb_ptx_token *token = pkb_ptx_peek(cursor);
    cursor->rc =
        pkb_error_set(cursor->err, PKB_ERR_FORMAT, 0, "PTX line %u: %s at '%.*s'", token->line,
                      what, token->length > 60 ? 60 : (int)token->length, token->text);
}

void pkb_ptx_fail_memory(pkb_ptx_cursor *cursor)
{
    if (cursor->rc == PKB_OK)
        cursor->rc = pkb_error_set(cursor->err, PKB_ERR_MEMORY, 0, "out of memory translating PTX");
}
