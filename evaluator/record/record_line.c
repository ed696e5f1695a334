/* SPDX-License-Identifier: Apache-2.0
 *
 * Shortens records; see record_line.h.
 */
#include "evaluator/record/record_line.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static const char batches_key[] = "\"batches\":", ranks_key[] = "\"rank_ns\":";

static const char *pass_blanks(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\t'))
        at++;
    return at;
}

/* Is the key the last thing before `at`, blanks aside? */
static bool has_key_before(const char *start, const char *at, const char *key)
{
    const size_t bytes = strlen(key);

    while (at > start && (at[-1] == ' ' || at[-1] == '\t'))
        at--;
    return (size_t)(at - start) >= bytes && memcmp(at - bytes, key, bytes) == 0;
}

static void count_list(pkb_record_batches *found, size_t entries)
{
    found->lists++;
    found->fewest = entries < found->fewest ? entries : found->fewest;
    found->most = entries > found->most ? entries : found->most;
}

/* Behind the bracket that closes the list which begins at `start`; NULL: none. Strings in batches
 * are plain words, so that brackets in strings need no thought. */
static const char *end_of_list(const char *start, const char *end, pkb_record_batches *found)
{
    static const char plain[] = "}:.\"+-_ \t0123456789"
                                "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    const char *list = NULL; /* the inside of the "rank_ns" that we are in */
    size_t depth = 1, commas = 0;
    char is_plain[256] = {0};

    for (const char *c = plain; *c != '\0'; c++)
        is_plain[(unsigned char)*c] = 1;
    for (const char *at = start; at < end; at++) {
        if (is_plain[(unsigned char)*at])
            continue;
        if (*at == ',') {
            commas++;
        } else if (*at == '{') {
            found->count += depth == 1;
        } else if (*at == '[') {
            if (depth++ == 1 && has_key_before(start, at, ranks_key)) {
                list = at + 1;
                commas = 0;
            }
        } else if (*at != ']') {
            return NULL;
        } else if (--depth == 0) {
            return at + 1;
        } else if (depth == 1 && list != NULL) {
            count_list(found, pass_blanks(list, at) == at ? 0 : commas + 1);
            list = NULL;
        }
    }
    return NULL;
}

/* The inside of the next list; a quote behind a backslash is part of a string. */
static char *find_list(char *from, const char *start, const char *end)
{
    const size_t key_bytes = sizeof batches_key - 1;

    for (;;) {
        char *found = memmem(from, (size_t)(end - from), batches_key, key_bytes);
        if (found == NULL)
            return NULL;
        from = found + key_bytes;
        from += pass_blanks(from, end) - from;
        if (from < end && *from == '[' && (found == start || found[-1] != '\\'))
            return from + 1;
    }
}

size_t pkb_record_line_strip(char *line, size_t bytes, pkb_record_batches *found)
{
    const char *end = line + bytes;
    char *from = line, *to = line, *list = NULL;
    pkb_record_batches counts = {.fewest = SIZE_MAX};

    while ((list = find_list(from, line, end)) != NULL) {
        const char *behind = end_of_list(list, end, &counts);
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
    if (found != NULL)
        *found = counts;
    return (size_t)(to - line) + (size_t)(end - from);
}
