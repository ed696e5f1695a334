/* SPDX-License-Identifier: Apache-2.0
 *
 * Shortens compiler output; see diagnostic.h.
 */
#include "evaluator/compile/diagnostic.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

typedef struct line {
    const char *text; /* not terminated */
    size_t bytes;
} line;

enum { SHOWN_BYTES = 400 };

static bool next_line(const char **at, line *out)
{
    if (**at == '\0')
        return false;
    out->text = *at;
    out->bytes = strcspn(*at, "\n");
    *at += out->bytes + ((*at)[out->bytes] == '\n');
    return true;
}

static const char *find(const line *in, const char *word)
{
    return memmem(in->text, in->bytes, word, strlen(word));
}

static bool is_error(const line *in)
{
    static const char *const marks[] = {
        ": error",       ": fatal error",          "fatal   :",
        ", error   :",   ": undefined reference",  "undefined symbol",
        "error   : ",    "multiple definition",    "cannot find -l",
        "signal Killed", "internal compiler error"};
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++)
        if (find(in, marks[i]) != NULL)
            return true;
    return false;
}

/* "at line 12 of ..." in the notes that follow an error; 0 = none. */
static long line_of_note(const char *at, const char *source)
{
    static const char mark[] = "at line ";
    line note;
    while (next_line(&at, &note) && !is_error(&note)) {
        const char *number = find(&note, mark);
        if (number != NULL && (find(&note, source) != NULL || find(&note, " of ") == NULL))
            return strtol(number + sizeof mark - 1, NULL, 10);
    }
    return 0;
}

/* gcc's "mine.cu:12:5: error" becomes nvcc's "mine.cu(12): error". */
static void append_position(pkb_buf *out, const char **at, const char *end, const char *source)
{
    const size_t name = strlen(source);
    if ((size_t)(end - *at) <= name + 1 || strncmp(*at, source, name) != 0 || (*at)[name] != ':' ||
        !isdigit((unsigned char)(*at)[name + 1]))
        return;
    const char *number = *at + name + 1, *rest = number;
    while (rest < end && isdigit((unsigned char)*rest))
        rest++;
    pkb_buf_printf(out, "%s(%.*s)", source, (int)(rest - number), number);
    if (rest + 1 < end && *rest == ':' && isdigit((unsigned char)rest[1]))
        for (rest++; rest < end && isdigit((unsigned char)*rest);)
            rest++;
    *at = rest;
}

static size_t prefix_at(const char *at, const char *end, const pkb_diagnostic_place *place)
{
    for (size_t i = 0; i < place->prefix_count; i++) {
        size_t bytes = strlen(place->prefixes[i]);
        if (bytes > 0 && (size_t)(end - at) > bytes && at[bytes] == '/' &&
            strncmp(at, place->prefixes[i], bytes) == 0)
            return bytes + 1;
    }
    return 0;
}

static void append_line(pkb_buf *out, const line *in, const pkb_diagnostic_place *place)
{
    const char *at = in->text, *end = in->text + in->bytes;
    const size_t start = out->bytes;

    while (at < end && isspace((unsigned char)*at))
        at++;
    while (at < end && out->bytes - start < SHOWN_BYTES) {
        const char *before = at;
        at += prefix_at(at, end, place);
        append_position(out, &at, end, place->source);
        if (at < end && at == before)
            pkb_buf_append_byte(out, *at++);
    }
    if (at < end)
        pkb_buf_append_string(out, "…");
}

void pkb_diagnostic_shorten(pkb_buf *out, const char *text, const pkb_diagnostic_place *place)
{
    line current, first = {0}, last = {0};
    const char *after_first = "";
    size_t error_count = 0;

    for (const char *at = text; next_line(&at, &current);) {
        if (current.bytes > 0)
            last = current;
        if (!is_error(&current))
            continue;
        if (error_count++ == 0) {
            first = current;
            after_first = at;
        }
    }
    if (error_count == 0) {
        append_line(out, &last, place);
        return;
    }
    append_line(out, &first, place);
    long line_number =
        find(&first, place->source) == NULL ? line_of_note(after_first, place->source) : 0;
    if (line_number > 0)
        pkb_buf_printf(out, " (from line %ld of the attempt)", line_number);
    if (error_count > 1)
        pkb_buf_printf(out, " (and %zu more)", error_count - 1);
}

bool pkb_diagnostic_tells_of_kill(const char *text)
{
    return strstr(text, "Killed signal terminated program ") != NULL || /* gcc */
           strstr(text, "terminated with signal 9 ") != NULL ||         /* collect2 */
           strstr(text, " died due to signal 9 ") != NULL;              /* nvcc */
}
