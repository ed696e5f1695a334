/* SPDX-License-Identifier: Apache-2.0
 *
 * The PTX lexer; see token.h. An opcode such as ld.global.u32 is one WORD and two DOTs: only the
 * parser knows whether dots belong to an opcode, a directive or a special register.
 */
#include "harness/cpu/translator/token.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_TEXT_BYTES = 1 << 30, MAX_TOKEN_BYTES = 1 << 16, MAX_NUMBER_BYTES = 64 };

typedef struct lexer {
    const char *at, *end;
    uint32_t line;
    pkb_ptx_token *tokens;
    size_t count, capacity;
    pkb_error *err;
} lexer;

static bool is_word_byte(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '%';
}

static pkb_code push(lexer *lex, pkb_ptx_token token)
{
    if (lex->count == lex->capacity) {
        size_t capacity = lex->capacity == 0 ? 1024 : lex->capacity * 2;
        pkb_ptx_token *tokens = realloc(lex->tokens, capacity * sizeof *tokens);
        if (tokens == NULL)
            return pkb_error_set(lex->err, PKB_ERR_MEMORY, 0, "out of memory for PTX tokens");
        lex->tokens = tokens;
        lex->capacity = capacity;
    }
    lex->tokens[lex->count++] = token;
    return PKB_OK;
}

/* Skips white space and comments; false at the end of the text. */
static bool skip_blank(lexer *lex)
{
    while (lex->at < lex->end) {
        char c = *lex->at;
        if (c == '\n') {
            lex->line++;
            lex->at++;
        } else if (isspace((unsigned char)c) || c == '\0') {
            lex->at++;
        } else if (c == '/' && lex->end - lex->at > 1 && lex->at[1] == '/') {
            while (lex->at < lex->end && *lex->at != '\n')
                lex->at++;
        } else if (c == '/' && lex->end - lex->at > 1 && lex->at[1] == '*') {
            lex->at += 2;
            while (lex->at < lex->end &&
                   !(lex->at[0] == '*' && lex->end - lex->at > 1 && lex->at[1] == '/'))
                lex->line += *lex->at++ == '\n';
            lex->at = lex->end - lex->at > 1 ? lex->at + 2 : lex->end;
        } else {
            return true;
        }
    }
    return false;
}

static pkb_code bad_number(const lexer *lex)
{
    return pkb_error_set(lex->err, PKB_ERR_FORMAT, 0, "PTX line %u: malformed number", lex->line);
}

/* Digits of one number as C text, so that strtoull and strtod can read it. */
static pkb_code lex_number(lexer *lex, pkb_ptx_token *token)
{
    char digits[MAX_NUMBER_BYTES];
    size_t length = 0;
    const char *at = lex->at;
    bool is_decimal_float = false;

    while (at < lex->end && length < sizeof digits - 1 &&
           (isalnum((unsigned char)*at) || *at == '.' ||
            ((*at == '-' || *at == '+') && is_decimal_float && tolower(at[-1]) == 'e'))) {
        is_decimal_float = is_decimal_float || *at == '.';
        digits[length++] = *at++;
    }
    digits[length] = '\0';
    token->length = (uint32_t)length;
    lex->at = at;

    char *rest;
    if (length > 2 && digits[0] == '0' && strchr("fFdD", digits[1]) != NULL) {
        bool is_double = tolower(digits[1]) == 'd';
        token->kind = is_double ? PKB_PTX_FLOAT64 : PKB_PTX_FLOAT32;
        token->bits = strtoull(digits + 2, &rest, 16);
        if (length != (is_double ? 18 : 10))
            return bad_number(lex);
    } else if (is_decimal_float) {
        double value = strtod(digits, &rest);
        token->kind = PKB_PTX_FLOAT64;
        memcpy(&token->bits, &value, sizeof value);
    } else {
        bool is_binary = digits[0] == '0' && tolower(digits[1]) == 'b';
        token->kind = PKB_PTX_INTEGER;
        token->bits = is_binary ? strtoull(digits + 2, &rest, 2) : strtoull(digits, &rest, 0);
        if (*rest == 'U' || *rest == 'u')
            rest++;
    }
    return *rest == '\0' ? PKB_OK : bad_number(lex);
}

static void lex_dotted(lexer *lex, pkb_ptx_token *token)
{
    const char *at = lex->at + 1;
    for (; at < lex->end; at++) {
        if (is_word_byte(*at))
            continue;
        if (*at != ':' || lex->end - at < 3 || at[1] != ':' || !is_word_byte(at[2]))
            break;
        at++;
    }
    token->kind = at == lex->at + 1 ? PKB_PTX_PUNCTUAL : PKB_PTX_DOT;
    token->length = (uint32_t)(at - lex->at);
    lex->at = at;
}

static pkb_code lex_text(lexer *lex, pkb_ptx_token *token)
{
    const char *at = lex->at + 1;
    while (at < lex->end && *at != '"' && *at != '\n')
        at += *at == '\\' && lex->end - at > 1 ? 2 : 1;
    if (at >= lex->end || *at != '"')
        return pkb_error_set(lex->err, PKB_ERR_FORMAT, 0, "PTX line %u: unterminated string",
                             lex->line);
    token->kind = PKB_PTX_TEXT;
    token->length = (uint32_t)(at + 1 - lex->at);
    lex->at = at + 1;
    return PKB_OK;
}

static pkb_code lex_one(lexer *lex)
{
    pkb_ptx_token token = {lex->at, 1, lex->line, 0, PKB_PTX_PUNCTUAL};
    pkb_code rc = PKB_OK;

    if (isdigit((unsigned char)*lex->at)) {
        rc = lex_number(lex, &token);
    } else if (is_word_byte(*lex->at)) {
        const char *at = lex->at;
        while (at < lex->end && is_word_byte(*at))
            at++;
        token.kind = PKB_PTX_WORD;
        token.length = (uint32_t)(at - lex->at);
        lex->at = at;
    } else if (*lex->at == '.') {
        lex_dotted(lex, &token);
    } else if (*lex->at == '"') {
        rc = lex_text(lex, &token);
    } else {
        lex->at++;
    }
    if (rc == PKB_OK && token.length > MAX_TOKEN_BYTES)
        rc = pkb_error_set(lex->err, PKB_ERR_FORMAT, 0, "PTX line %u: name too long", lex->line);
    return rc == PKB_OK ? push(lex, token) : rc;
}

pkb_code pkb_ptx_tokenize(const char *text, size_t length, pkb_ptx_token **out, size_t *out_count,
                          pkb_error *err)
{
    lexer lex = {text, text + length, 1, NULL, 0, 0, err};
    pkb_code rc = PKB_OK;

    if (length > MAX_TEXT_BYTES)
        return pkb_error_set(err, PKB_ERR_FORMAT, 0, "PTX text of %zu bytes is too large", length);
    while (rc == PKB_OK && skip_blank(&lex))
        rc = lex_one(&lex);
    if (rc == PKB_OK)
        rc = push(&lex, (pkb_ptx_token){lex.at, 0, lex.line, 0, PKB_PTX_END});
    if (rc != PKB_OK) {
        free(lex.tokens);
        return rc;
    }
    *out = lex.tokens;
    *out_count = lex.count;
    return PKB_OK;
}

bool pkb_ptx_token_is(const pkb_ptx_token *token, const char *text)
{
    return token->length == strlen(text) && memcmp(token->text, text, token->length) == 0;
}
