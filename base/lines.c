/* SPDX-License-Identifier: Apache-2.0
 *
 * Lines of a file; see lines.h.
 */
#include "base/lines.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FIRST_BYTES = 1 << 18 };

/* Takes `fd` over, also when it fails. */
static pkb_code adopt(pkb_lines *out, int fd, const char *path, size_t limit_bytes, pkb_error *err)
{
    pkb_lines lines = {.fd = fd, .capacity_bytes = FIRST_BYTES, .limit_bytes = limit_bytes};

    if (lines.fd < 0)
        return pkb_error_set_errno(err, PKB_ERR_USAGE, "cannot read %s", path);
    lines.path = strdup(path);
    lines.data = malloc(lines.capacity_bytes);
    if (lines.path == NULL || lines.data == NULL) {
        pkb_lines_close(&lines);
        return pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory to read %s", path);
    }
    *out = lines;
    return PKB_OK;
}

static pkb_code adopt_file(pkb_lines *out, int fd, const char *path, size_t limit_bytes,
                           pkb_error *err)
{
    struct stat status;

    if (fd >= 0 && (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))) {
        close(fd);
        return pkb_error_set(err, PKB_ERR_USAGE, 0, "%s is no ordinary file", path);
    }
    return adopt(out, fd, path, limit_bytes, err);
}

pkb_code pkb_lines_open(pkb_lines *out, const char *path, size_t limit_bytes, pkb_error *err)
{
    return adopt_file(out, open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), path, limit_bytes, err);
}

pkb_code pkb_lines_open_fd(pkb_lines *out, int fd, const char *path, size_t limit_bytes,
                           pkb_error *err)
{
    return adopt_file(out, fcntl(fd, F_DUPFD_CLOEXEC, 0), path, limit_bytes, err);
}

pkb_code pkb_lines_open_stream(pkb_lines *out, int fd, const char *path, size_t limit_bytes,
                               pkb_error *err)
{
    return adopt(out, fcntl(fd, F_DUPFD_CLOEXEC, 0), path, limit_bytes, err);
}

void pkb_lines_close(pkb_lines *lines)
{
    if (lines->fd >= 0)
        close(lines->fd);
    free(lines->path);
    free(lines->data);
    *lines = (pkb_lines)PKB_LINES_NONE;
}

/* Makes room behind `end`, first by moving what is left to the front. */
static pkb_code make_room(pkb_lines *lines, pkb_error *err)
{
    if (lines->start > 0) {
        memmove(lines->data, lines->data + lines->start, lines->end - lines->start);
        lines->end -= lines->start;
        lines->start = 0;
    }
    if (lines->end < lines->capacity_bytes)
        return PKB_OK;
    const size_t wanted = 2 * lines->capacity_bytes + FIRST_BYTES;
    char *larger = realloc(lines->data, wanted);
    if (larger == NULL)
        return pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for a line of %s", lines->path);
    lines->data = larger;
    lines->capacity_bytes = wanted;
    return PKB_OK;
}

/* A hole holds no newline, and may be larger than any disk. What is no file, or of a file system
 * that does not know its holes, is read as it is. */
static void pass_hole(pkb_lines *lines)
{
    const off_t here = lseek(lines->fd, 0, SEEK_CUR);
    off_t data = here < 0 ? -1 : lseek(lines->fd, here, SEEK_DATA);

    if (here >= 0 && data < 0 && errno == ENXIO)
        data = lseek(lines->fd, 0, SEEK_END);
    if (data > here)
        lines->at_offset += (size_t)(data - here);
}

pkb_code pkb_lines_read(pkb_lines *lines, pkb_error *err)
{
    pkb_code rc = make_room(lines, err);
    ssize_t count = 0;

    if (rc != PKB_OK)
        return rc;
    if (lines->is_skipping && lines->start == lines->end)
        pass_hole(lines);
    do
        count = read(lines->fd, lines->data + lines->end, lines->capacity_bytes - lines->end);
    while (count < 0 && errno == EINTR);
    if (count < 0)
        return pkb_error_set_errno(err, PKB_ERR_IO, "cannot read %s", lines->path);
    lines->is_at_end = count == 0;
    lines->end += (size_t)count;
    return PKB_OK;
}

/* Hands out what lies before `newline`, or all that is left where that is NULL. */
static void hand_out(pkb_lines *lines, pkb_line *out, const char *newline)
{
    char *text = lines->data + lines->start;
    const size_t bytes = newline != NULL ? (size_t)(newline - text) : lines->end - lines->start;

    *out = (pkb_line){.text = text,
                      .bytes = lines->is_skipping ? 0 : bytes,
                      .number = ++lines->number,
                      .offset = lines->line_offset,
                      .is_whole = newline != NULL,
                      .is_too_long = lines->is_skipping};
    lines->start += bytes + (newline != NULL);
    lines->at_offset += bytes + (newline != NULL);
    lines->line_offset = lines->at_offset;
    lines->seen = 0;
    lines->is_skipping = false;
}

bool pkb_lines_take(pkb_lines *lines, pkb_line *out)
{
    const size_t held = lines->end - lines->start;
    const char *newline = NULL;

    if (held > lines->seen)
        newline = memchr(lines->data + lines->start + lines->seen, '\n', held - lines->seen);
    if (newline != NULL || (lines->is_at_end && (held > 0 || lines->is_skipping))) {
        hand_out(lines, out, newline);
        return true;
    }
    if (lines->is_at_end) {
        *out = (pkb_line){.number = lines->number + 1, .offset = lines->line_offset};
        return true;
    }
    lines->seen = held;
    if (held > lines->limit_bytes || lines->is_skipping) {
        lines->is_skipping = true;
        lines->at_offset += held;
        lines->start = lines->end;
        lines->seen = 0;
    }
    return false;
}

pkb_code pkb_lines_next(pkb_lines *lines, pkb_line *out, pkb_error *err)
{
    pkb_code rc = PKB_OK;

    while (rc == PKB_OK && !pkb_lines_take(lines, out))
        rc = pkb_lines_read(lines, err);
    return rc;
}
