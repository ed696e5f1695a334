/* SPDX-License-Identifier: Apache-2.0
 *
 * Shortens records; see record_line.h.
 */
#include "evaluator/record/record_line.h"

#include <string.h>

static const char key[] = "\"batches\":[";

enum { KEY_BYTES = sizeof key - 1 };

/* Behind the bracket that closes the list that `at` is in; NULL: none. Strings in batches are plain
 * words, so that brackets in strings need no thought. */
static const char *end_of_list(const char *at, const char *end)
{
    static const char plain[] = "{}:,.\"+-_ 0123456789"
                                "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    size_t depth = 1;
    char is_plain[256] = {0};

    for (const char *c = plain; *c != '\0'; c++)
        is_plain[(unsigned char)*c] = 1;
    for (; at < end; at++) {
        if (is_plain[(unsigned char)*at])
            continue;
        if (*at == '[')
            depth++;
        else if (*at != ']')
            return NULL;
        else if (--depth == 0)
            return at + 1;
    }
    return NULL;
}

/* A quote behind a backslash is part of a string. */
static char *find_key(char *from, const char *start, const char *end)
{
    char *found = memmem(from, (size_t)(end - from), key, KEY_BYTES);
    while (found != NULL && found > start && found[-1] == '\\')
        found = memmem(found + 1, (size_t)(end - found - 1), key, KEY_BYTES);
    return found;
}

size_t pkb_record_line_strip(char *line, size_t bytes)
{
    const char *end = line + bytes;
    char *from = line, *to = line, *found = NULL;

    while ((found = find_key(from, line, end)) != NULL) {
        char *list = found + KEY_BYTES;
        const char *behind = end_of_list(list, end);
        const size_t before = (size_t)(list - from);
        memmove(to, from, before);
        to += before;
        from = list;
        if (behind != NULL) {
            *to++ = ']';
            from += behind - list;
        }
    }
    memmove(to, from, (size_t)(end - from));
    return (size_t)(to - line) + (size_t)(end - from);
}
