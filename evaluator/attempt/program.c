/* SPDX-License-Identifier: Apache-2.0
 *
 * Sources without what no compiler sees; see program.h.
 */
#include "evaluator/attempt/program.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

typedef struct reader {
    const char *at, *end;
    pkb_buf *out;
    bool has_gap;       /* white space or a comment since the last byte */
    bool is_line_start; /* nothing but white space since the line began */
    bool is_directive;  /* its end is kept */
} reader;

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

static bool starts(const reader *r, const char *text)
{
    const size_t bytes = strlen(text);
    return (size_t)(r->end - r->at) >= bytes && memcmp(r->at, text, bytes) == 0;
}

/* Would they be read as one without a gap, as two words, "+ +" and L "x" would? */
static bool would_join(char last, char next)
{
    static const char operators[] = "+-*/%<>=!&|^:.#";

    if (is_word(last))
        return is_word(next) || next == '"' || next == '\'';
    return strchr(operators, last) != NULL && strchr(operators, next) != NULL;
}

/* Writes a byte behind the gap that came before it, if that gap means something: "#define A (1)"
 * is not "#define A(1)". */
static void put(reader *r, char c)
{
    const char last = r->out->bytes > 0 ? r->out->data[r->out->bytes - 1] : '\n';

    if (r->has_gap && last != '\n' && (r->is_directive ? last != '#' : would_join(last, c)))
        pkb_buf_append_byte(r->out, ' ');
    r->has_gap = false;
    r->is_line_start = false;
    pkb_buf_append_byte(r->out, c);
}

static void end_line(reader *r)
{
    if (r->is_directive)
        pkb_buf_append_byte(r->out, '\n');
    r->is_directive = false;
    r->is_line_start = true;
    r->has_gap = true;
}

/* To behind `stop`, or to the end; a comment is a gap. */
static void skip_comment(reader *r, const char *stop)
{
    while (r->at < r->end && !starts(r, stop)) {
        if (starts(r, "\\\n"))
            r->at++;
        r->at++;
    }
    if (r->at > r->end)
        r->at = r->end;
    if (r->at < r->end && *stop == '*')
        r->at += 2;
    r->has_gap = true;
}

/* 'a' and "text": as it stands. A quote that nothing ends runs to the end of its line. */
static void copy_quoted(reader *r)
{
    const char quote = *r->at;

    put(r, *r->at++);
    while (r->at < r->end && *r->at != quote && *r->at != '\n') {
        if (*r->at == '\\' && r->at + 1 < r->end)
            pkb_buf_append_byte(r->out, *r->at++);
        pkb_buf_append_byte(r->out, *r->at++);
    }
    if (r->at < r->end && *r->at == quote)
        pkb_buf_append_byte(r->out, *r->at++);
}

/* R"mark( ... )mark" as it stands; false: it is none. */
static bool copy_raw_string(reader *r)
{
    const char *open = r->at + 2, *paren = NULL;
    const bool follows_word =
        r->out->bytes > 0 && !r->has_gap && is_word(r->out->data[r->out->bytes - 1]);

    if (!starts(r, "R\"") || follows_word)
        return false;
    paren = memchr(open, '(', (size_t)(r->end - open));
    if (paren == NULL || paren - open > 16)
        return false;
    pkb_buf close = {0};
    pkb_buf_append_byte(&close, ')');
    pkb_buf_append(&close, open, (size_t)(paren - open));
    pkb_buf_append_byte(&close, '"');
    const char *stop = memmem(paren, (size_t)(r->end - paren), pkb_buf_text(&close), close.bytes);
    const size_t bytes = (size_t)((stop != NULL ? stop + close.bytes : r->end) - r->at);
    put(r, 'R');
    pkb_buf_append(r->out, r->at + 1, bytes - 1);
    r->at += bytes;
    pkb_buf_clear(&close);
    return true;
}

/* A word, or digits with what stands between them: 1'000. */
static void copy_word(reader *r)
{
    const char *from = r->at;
    const bool is_number = isdigit((unsigned char)*from);

    while (r->at < r->end && (is_word(*r->at) || (is_number && *r->at == '\'' &&
                                                  r->at + 1 < r->end && is_word(r->at[1]))))
        r->at++;
    put(r, *from);
    pkb_buf_append(r->out, from + 1, (size_t)(r->at - from) - 1);
}

static void copy_sign(reader *r)
{
    if (*r->at == '#' && r->is_line_start) {
        if (r->out->bytes > 0 && r->out->data[r->out->bytes - 1] != '\n')
            pkb_buf_append_byte(r->out, '\n');
        r->is_directive = true;
    }
    put(r, *r->at++);
}

static void take(reader *r)
{
    const char c = *r->at;

    if (c == '\\' && starts(r, "\\\n")) {
        r->at += 2;
    } else if (c == '/' && starts(r, "//")) {
        skip_comment(r, "\n");
    } else if (c == '/' && starts(r, "/*")) {
        r->at += 2;
        skip_comment(r, "*/");
    } else if (c == '\n') {
        r->at++;
        end_line(r);
    } else if (isspace((unsigned char)c)) {
        r->at++;
        r->has_gap = true;
    } else if (c == '"' || c == '\'') {
        copy_quoted(r);
    } else if (c == 'R' && copy_raw_string(r)) {
        return;
    } else if (is_word(c)) {
        copy_word(r);
    } else {
        copy_sign(r);
    }
}

void pkb_program_plain(pkb_buf *out, const char *source, size_t bytes)
{
    reader r = {.at = source, .end = source + bytes, .out = out, .is_line_start = true};

    while (r.at < r.end && out->status == PKB_OK)
        take(&r);
    end_line(&r);
}

pkb_code pkb_program_hash(char hex[PKB_HASH_HEX_BYTES], const char *source, size_t bytes,
                          pkb_error *err)
{
    pkb_buf plain = {0};

    pkb_buf_reserve(&plain, bytes);
    pkb_program_plain(&plain, source, bytes);
    pkb_code rc = pkb_buf_check(&plain, "a program", err);
    if (rc == PKB_OK)
        rc = pkb_hash_bytes(pkb_buf_text(&plain), plain.bytes, hex, err);
    pkb_buf_clear(&plain);
    return rc;
}
