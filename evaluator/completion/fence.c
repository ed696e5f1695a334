/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds fenced code blocks; see fence.h.
 */
#include "evaluator/completion/fence.h"

#include <string.h>

enum { SHORTEST_FENCE = 3, MOST_INDENT = 3, MOST_LIST_DIGITS = 9, MOST_LIST_SPACES = 4 };

typedef struct text_line {
    const char *text;
    size_t bytes; /* without its end */
    bool is_crlf;
} text_line;

typedef struct fence {
    char mark;
    size_t length, indent;
} fence;

static bool next_line(pkb_fence_scan *scan, text_line *out)
{
    if (scan->at == scan->end)
        return false;
    const char *begin = scan->at;
    const char *newline = memchr(begin, '\n', (size_t)(scan->end - begin));
    size_t bytes = (size_t)((newline != NULL ? newline : scan->end) - begin);
    const bool is_crlf = newline != NULL && bytes > 0 && begin[bytes - 1] == '\r';

    scan->at = newline != NULL ? newline + 1 : scan->end;
    *out = (text_line){.text = begin, .bytes = bytes - is_crlf, .is_crlf = is_crlf};
    return true;
}

static size_t run_of(const text_line *line, size_t from, char mark)
{
    size_t at = from;
    while (at < line->bytes && line->text[at] == mark)
        at++;
    return at - from;
}

static bool is_space_only(const text_line *line, size_t from)
{
    for (size_t i = from; i < line->bytes; i++)
        if (strchr(" \t\r", line->text[i]) == NULL || line->text[i] == '\0')
            return false;
    return true;
}

/* "- ", "12. ": how many characters from `from` on lie before the item's content; 0 = no item. */
static size_t list_marker(const text_line *line, size_t from)
{
    size_t at = from, digits = 0;

    while (at + digits < line->bytes && line->text[at + digits] >= '0' &&
           line->text[at + digits] <= '9')
        digits++;
    at += digits;
    if (digits > MOST_LIST_DIGITS || at >= line->bytes || line->text[at] == '\0' ||
        strchr(digits > 0 ? ".)" : "-+*", line->text[at]) == NULL)
        return 0;
    const size_t spaces = run_of(line, ++at, ' ');
    if (spaces == 0)
        return 0;
    return at - from + (spaces <= MOST_LIST_SPACES ? spaces : 1);
}

static bool read_opening(const text_line *line, size_t indent, fence *out, pkb_fence_block *block)
{
    const char mark = indent < line->bytes ? line->text[indent] : '\0';
    const size_t length = mark == '`' || mark == '~' ? run_of(line, indent, mark) : 0;

    if (length < SHORTEST_FENCE)
        return false;
    const char *info = line->text + indent + length;
    const size_t bytes = line->bytes - indent - length;
    if (mark == '`' && memchr(info, '`', bytes) != NULL)
        return false;
    *out = (fence){.mark = mark, .length = length, .indent = indent};
    *block = (pkb_fence_block){
        .info = info, .info_bytes = bytes, .indent = indent, .is_crlf = line->is_crlf};
    return true;
}

/* Does a line outside of blocks open one? Follows list items, whose content may be indented. */
static bool opens(pkb_fence_scan *scan, const text_line *line, fence *out, pkb_fence_block *block)
{
    size_t indent = run_of(line, 0, ' ');

    if (is_space_only(line, indent))
        return false;
    if (indent < scan->list_indent)
        scan->list_indent = indent;
    if (indent > scan->list_indent + MOST_INDENT)
        return false;
    for (size_t marker; (marker = list_marker(line, indent)) > 0;) {
        indent += marker;
        scan->list_indent = indent;
    }
    return read_opening(line, indent, out, block);
}

static bool closes(const text_line *line, const fence *opened)
{
    const size_t indent = run_of(line, 0, ' ');
    const size_t length = run_of(line, indent, opened->mark);

    return indent <= opened->indent + MOST_INDENT && length >= opened->length &&
           is_space_only(line, indent + length);
}

pkb_fence_scan pkb_fence_begin(const char *text, size_t bytes)
{
    return (pkb_fence_scan){.at = text, .end = text + bytes};
}

bool pkb_fence_next(pkb_fence_scan *scan, pkb_fence_block *out)
{
    text_line line = {0};
    fence opened = {0};
    bool is_open = false;

    while (!is_open && next_line(scan, &line))
        is_open = opens(scan, &line, &opened, out);
    if (!is_open)
        return false;
    out->text = scan->at;
    while (!out->is_closed && next_line(scan, &line))
        out->is_closed = closes(&line, &opened);
    out->bytes = (size_t)((out->is_closed ? line.text : scan->end) - out->text);
    return true;
}

void pkb_fence_append(pkb_buf *out, const pkb_fence_block *block)
{
    pkb_fence_scan lines = pkb_fence_begin(block->text, block->bytes);
    text_line line = {0};

    if (block->indent == 0 && !block->is_crlf) {
        pkb_buf_append(out, block->text, block->bytes);
        return;
    }
    while (next_line(&lines, &line)) {
        const size_t spaces = run_of(&line, 0, ' ');
        const size_t cut = spaces < block->indent ? spaces : block->indent;
        const char *begin = line.text + cut;
        if (block->is_crlf && line.is_crlf) {
            pkb_buf_append(out, begin, line.bytes - cut);
            pkb_buf_append_byte(out, '\n');
        } else {
            pkb_buf_append(out, begin, (size_t)(lines.at - begin));
        }
    }
}
