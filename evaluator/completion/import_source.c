/* SPDX-License-Identifier: Apache-2.0
 *
 * Opens completions; see import_source.h.
 */
#include "evaluator/completion/import_source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "evaluator/console/interrupt.h"
#include "evaluator/console/output.h"

/* ---- a copy of a pipe ---- */

static const char *copy_folder(void)
{
    const char *chosen = getenv("TMPDIR");
    return chosen != NULL && chosen[0] != '\0' ? chosen : "/tmp";
}

static pkb_code open_copy(FILE **out, pkb_error *err)
{
    pkb_buf path = {0};

    pkb_buf_printf(&path, "%s/pkbench-import.XXXXXX", copy_folder());
    pkb_code rc = pkb_buf_check(&path, "a path", err);
    const int fd = rc == PKB_OK ? mkostemp(path.data, O_CLOEXEC) : -1;
    if (fd >= 0)
        unlink(path.data);
    *out = fd >= 0 ? fdopen(fd, "w+") : NULL;
    if (rc == PKB_OK && *out == NULL) {
        rc = pkb_error_set_errno(err, PKB_ERR_DISK,
                                 "cannot copy standard input to %s (TMPDIR names another folder)",
                                 copy_folder());
        if (fd >= 0)
            close(fd);
    }
    pkb_buf_clear(&path);
    return rc;
}

static pkb_code copy_all(FILE *copy, int from, const char *name, pkb_error *err)
{
    char chunk[65536];
    ssize_t count = 1;

    while (count != 0 && !ferror(copy)) {
        const pkb_code rc = pkb_interrupt_check(err);
        if (rc != PKB_OK)
            return rc;
        count = read(from, chunk, sizeof chunk);
        if (count < 0 && errno != EINTR)
            return pkb_error_set_errno(err, PKB_ERR_IO, "cannot read %s", name);
        if (count > 0)
            (void)fwrite(chunk, 1, (size_t)count, copy);
    }
    return pkb_output_flush_to(copy, "the copy of standard input (TMPDIR names its folder)", err);
}

/* Puts a file in the place of a pipe. */
static pkb_code spool(pkb_import_source *source, pkb_error *err)
{
    FILE *copy = NULL;
    pkb_code rc = open_copy(&copy, err);

    if (rc == PKB_OK)
        rc = copy_all(copy, source->fd, source->name, err);
    const int fd = rc == PKB_OK ? fcntl(fileno(copy), F_DUPFD_CLOEXEC, 0) : -1;
    if (rc == PKB_OK && fd < 0)
        rc = pkb_error_set_errno(err, PKB_ERR_IO, "cannot copy %s", source->name);
    if (copy != NULL)
        fclose(copy);
    if (rc != PKB_OK)
        return rc;
    close(source->fd);
    source->fd = fd;
    return PKB_OK;
}

/* ---- opening ---- */

static pkb_code open_stdin(pkb_import_source *source, pkb_error *err)
{
    struct stat status;

    source->name = "standard input";
    source->fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
    if (source->fd < 0 || fstat(source->fd, &status) != 0)
        return pkb_error_set_errno(err, PKB_ERR_USAGE, "cannot read standard input");
    if (!S_ISREG(status.st_mode))
        return spool(source, err);
    source->start = lseek(source->fd, 0, SEEK_CUR);
    return PKB_OK;
}

static pkb_code open_file(pkb_import_source *source, const char *file, pkb_error *err)
{
    struct stat status;

    source->name = file;
    source->fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (source->fd < 0 || fstat(source->fd, &status) != 0)
        return pkb_error_set_errno(err, PKB_ERR_USAGE, "cannot read %s", file);
    if (S_ISREG(status.st_mode))
        return PKB_OK;
    return pkb_error_set(err, PKB_ERR_USAGE, 0,
                         "%s is no ordinary file, and it is read twice; store the lines in a file "
                         "first, or send them to standard input (pkbench import - RUN_DIR)",
                         file);
}

/* What is plainly no file of lines is told once, with a remedy, and not line by line. */
static pkb_code check_form(const pkb_import_source *source, pkb_error *err)
{
    static const char gzip[] = "\x1f\x8b", zstd[] = "\x28\xb5\x2f\xfd";
    char head[256] = "";

    if (pread(source->fd, head, sizeof head - 1, source->start) <= 0)
        return PKB_OK; /* reading it says why */
    if (strncmp(head, gzip, sizeof gzip - 1) == 0 || strncmp(head, zstd, sizeof zstd - 1) == 0)
        return pkb_error_set(err, PKB_ERR_USAGE, 0,
                             "%s is compressed; unpack it first, with gunzip or zstd -d",
                             source->name);
    if (head[strspn(head, " \t\r\n")] == '[')
        return pkb_error_set(err, PKB_ERR_USAGE, 0,
                             "%s is a JSON list; wanted is one object a line, as jq -c '.[]' "
                             "makes of it",
                             source->name);
    return PKB_OK;
}

pkb_code pkb_import_source_open(pkb_import_source *out, const char *file, pkb_error *err)
{
    pkb_import_source source = PKB_IMPORT_SOURCE_NONE;

    pkb_code rc = strcmp(file, "-") == 0 ? open_stdin(&source, err) : open_file(&source, file, err);
    if (rc == PKB_OK)
        rc = check_form(&source, err);
    if (rc == PKB_OK)
        *out = source;
    else
        pkb_import_source_close(&source);
    return rc;
}

pkb_code pkb_import_source_lines(pkb_lines *out, const pkb_import_source *source,
                                 size_t limit_bytes, pkb_error *err)
{
    if (lseek(source->fd, source->start, SEEK_SET) < 0)
        return pkb_error_set_errno(err, PKB_ERR_IO, "cannot read %s", source->name);
    return pkb_lines_open_fd(out, source->fd, source->name, limit_bytes, err);
}

void pkb_import_source_close(pkb_import_source *source)
{
    if (source->fd >= 0)
        close(source->fd);
    *source = (pkb_import_source)PKB_IMPORT_SOURCE_NONE;
}
