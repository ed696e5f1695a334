/* SPDX-License-Identifier: Apache-2.0
 *
 * A file read line by line in bounded memory, however long it or a line of it is. Holes of a file
 * are not read: they cost no time either.
 */
#ifndef PKB_BASE_LINES_H
#define PKB_BASE_LINES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

typedef struct pkb_lines {
    int fd; /* -1 = none */
    char *path;
    char *data; /* what was read and not yet handed out lies at start .. end */
    size_t start, end, capacity_bytes, limit_bytes;
    size_t number;      /* of the last line handed out, from 1 */
    size_t at_offset;   /* of what lies at `start`, from where reading began */
    size_t line_offset; /* of the line that comes next */
    size_t seen;        /* bytes of it that hold no newline */
    bool is_skipping;   /* it is too long */
    bool is_at_end;
} pkb_lines;

#define PKB_LINES_NONE \
    {                  \
        .fd = -1       \
    }

typedef struct pkb_line {
    char *text;   /* writable until the next line is asked for; NULL: the file has ended */
    size_t bytes; /* without the newline */
    size_t number;
    size_t offset;    /* of its first byte, from where reading began */
    bool is_whole;    /* a newline ended it */
    bool is_too_long; /* longer than the limit: passed over, `bytes` is 0 */
} pkb_line;

/* PKB_ERR_USAGE: missing, unreadable, or no regular file. A pipe is refused without waiting. */
pkb_code pkb_lines_open(pkb_lines *out, const char *path, size_t limit_bytes, pkb_error *err);
/* The same of an open file, from where it stands; the caller keeps `fd`. */
pkb_code pkb_lines_open_fd(pkb_lines *out, int fd, const char *path, size_t limit_bytes,
                           pkb_error *err);
/* The same of anything that can be read, such as a pipe. */
pkb_code pkb_lines_open_stream(pkb_lines *out, int fd, const char *path, size_t limit_bytes,
                               pkb_error *err);
pkb_code pkb_lines_next(pkb_lines *lines, pkb_line *out, pkb_error *err);

/* For those who wait for several things: hands out the next line, or the end, if it has been read;
 * false: pkb_lines_read must read more, which waits where nothing has come. */
bool pkb_lines_take(pkb_lines *lines, pkb_line *out);
pkb_code pkb_lines_read(pkb_lines *lines, pkb_error *err);
void pkb_lines_close(pkb_lines *lines);

#endif
