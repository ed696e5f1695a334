/* SPDX-License-Identifier: Apache-2.0
 *
 * Shows what an attempt printed; see printed.h.
 */
#include "evaluator/attempt/printed.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "evaluator/console/clean.h"

enum { SHOWN_LINES = 10, SHOWN_BYTES = 200, LIMIT_BYTES = 16 << 20 };

void pkb_printed_name(char name[PKB_PRINTED_NAME_BYTES], int rank)
{
    snprintf(name, PKB_PRINTED_NAME_BYTES, "rank%d.txt", rank);
}

/* Blank lines, and the judge's own titles ("---- the attempt's output ----"), say nothing. */
static bool is_empty(const char *line, size_t bytes)
{
    static const char rule[] = "----";
    const size_t length = sizeof rule - 1;
    return strspn(line, " \t\r\v\f") >= bytes ||
           (bytes > 2 * length && memcmp(line, rule, length) == 0 &&
            memcmp(line + bytes - length, rule, length) == 0);
}

void pkb_printed_tail(pkb_buf *out, const char *text, const char *indent)
{
    const char *lines[SHOWN_LINES];
    size_t count = 0;

    for (const char *at = text; *at != '\0';) {
        const size_t bytes = strcspn(at, "\n");
        if (!is_empty(at, bytes))
            lines[count++ % SHOWN_LINES] = at;
        at += bytes + (at[bytes] == '\n');
    }
    for (size_t i = count > SHOWN_LINES ? count - SHOWN_LINES : 0; i < count; i++) {
        const char *line = lines[i % SHOWN_LINES];
        pkb_buf_append_string(out, indent);
        if (!pkb_clean_append(out, line, strcspn(line, "\r\n"), SHOWN_BYTES))
            pkb_buf_append_string(out, "…");
        pkb_buf_append_byte(out, '\n');
    }
}

static void read_rank(pkb_buf *out, const pkb_workdir *workdir, int rank)
{
    char name[PKB_PRINTED_NAME_BYTES];
    size_t bytes = 0;
    char *text = NULL;

    pkb_printed_name(name, rank);
    char *path = pkb_workdir_path(workdir, name);
    if (path != NULL && pkb_fs_read(path, LIMIT_BYTES, &text, &bytes, NULL) == PKB_OK) {
        for (size_t i = 0; i < bytes; i++)
            if (text[i] == '\0')
                text[i] = '\a'; /* shown as '?', as all that cannot be shown */
        pkb_printed_tail(out, text, "    ");
    }
    free(text);
    free(path);
}

void pkb_printed_read(pkb_buf *out, const pkb_workdir *workdir, int world, int rank, int *shown)
{
    *shown = rank >= 0 && rank < world ? rank : 0;
    read_rank(out, workdir, *shown);
    for (int r = 0; r < world && out->bytes == 0; r++) {
        *shown = r;
        read_rank(out, workdir, r);
    }
}
