/* SPDX-License-Identifier: Apache-2.0
 *
 * Keeps records on disk; see results.h. Only places are kept in memory, since a record may hold
 * the times of hundreds of batches.
 */
#include "evaluator/record/results.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/lines.h"
#include "evaluator/record/record.h"

static pkb_code no_memory(pkb_error *err)
{
    return pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for the records");
}

/* ---- reading ---- */

/* False: it is no record. */
static bool describe(pkb_results_entry *out, const char **id, const cJSON *record)
{
    const char *judgement = pkb_json_string_or(record, "judgement", "");

    *id = pkb_json_string_or(record, "id", "");
    if ((*id)[0] == '\0' || strlen(judgement) >= sizeof out->judgement ||
        pkb_record_verdict(record, &out->verdict, NULL) != PKB_OK)
        return false;
    snprintf(out->judgement, sizeof out->judgement, "%s", judgement);
    out->revision = pkb_record_revision(record);
    return true;
}

static pkb_code add_record(pkb_results *results, const pkb_results_entry *entry, const char *id,
                           const cJSON *record, pkb_error *err)
{
    if (results->visit != NULL)
        results->visit(results->context, record);
    return pkb_results_index_add(&results->index, entry, id, err);
}

/* Lines of others that are no records are theirs to mend. */
static pkb_code take_line(pkb_results *results, const pkb_line *line, size_t file, pkb_error *err)
{
    pkb_results_entry entry = {.file = file, .offset = (off_t)line->offset, .bytes = line->bytes};
    cJSON *record = NULL;
    const char *id = NULL;
    pkb_code rc = PKB_OK;

    if (line->bytes == 0 && !line->is_too_long)
        return PKB_OK;
    if (pkb_json_parse(&record, line->text, line->bytes, "a record", NULL) == PKB_OK &&
        describe(&entry, &id, record)) {
        rc = add_record(results, &entry, id, record, err);
    } else if (file > 0) {
        rc = PKB_OK;
    } else if (!line->is_whole && line->bytes > 0 && line->text[0] == '{') {
        results->cut_bytes = line->bytes;
    } else {
        results->broken_count++;
        if (results->broken_line == 0)
            results->broken_line = line->number;
    }
    cJSON_Delete(record);
    return rc;
}

/* A line that was cut is removed, a last line that only lacks its end gets one: what is appended
 * next must stand on a line of its own. */
static pkb_code mend_end(const pkb_results *results, size_t size, bool is_whole, pkb_error *err)
{
    if (results->cut_bytes > 0) {
        if (ftruncate(results->fd, (off_t)(size - results->cut_bytes)) != 0)
            return pkb_error_set_errno(err, PKB_ERR_DISK, "cannot remove the cut line of %s",
                                       results->path);
        return PKB_OK;
    }
    return is_whole ? PKB_OK : pkb_fs_append_fd(results->fd, results->path, "\n", 1, err);
}

static pkb_code read_lines(pkb_results *results, pkb_lines *lines, size_t file, bool *is_whole,
                           pkb_error *err)
{
    pkb_line line = {0};

    for (;;) {
        pkb_code rc = pkb_lines_next(lines, &line, err);
        if (rc != PKB_OK || line.text == NULL)
            return rc;
        *is_whole = line.is_whole;
        rc = take_line(results, &line, file, err);
        if (rc != PKB_OK)
            return rc;
    }
}

static pkb_code read_own(pkb_results *results, pkb_error *err)
{
    pkb_lines lines = PKB_LINES_NONE;
    bool is_whole = true;
    pkb_code rc =
        pkb_lines_open_fd(&lines, results->fd, results->path, PKB_RECORD_LIMIT_BYTES, err);

    if (rc == PKB_OK)
        rc = read_lines(results, &lines, 0, &is_whole, err);
    if (rc == PKB_OK)
        rc = mend_end(results, lines.at_offset, is_whole, err);
    pkb_lines_close(&lines);
    return rc;
}

static pkb_code read_other(pkb_results *results, size_t other, pkb_error *err)
{
    pkb_lines lines = PKB_LINES_NONE;
    bool is_whole = true;
    pkb_code rc = pkb_lines_open(&lines, results->others[other], PKB_RECORD_LIMIT_BYTES, err);

    if (rc == PKB_OK)
        rc = read_lines(results, &lines, other + 1, &is_whole, err);
    pkb_lines_close(&lines);
    return rc;
}

static pkb_code complain_of_change(const char *path, pkb_error *err)
{
    return pkb_error_set(err, PKB_ERR_DISK, 0,
                         "%s was changed by somebody else while this run needs it; leave it "
                         "alone until the run has ended",
                         path);
}

/* Whether what lies there is still what was found or written. */
static bool is_same(const pkb_results_entry *entry, const cJSON *record)
{
    pkb_results_entry now = {0};
    const char *id = NULL;
    return describe(&now, &id, record) && now.verdict == entry->verdict &&
           strcmp(now.judgement, entry->judgement) == 0 && strcmp(id, entry->id) == 0;
}

static pkb_code read_text(char *text, const pkb_results *results, const pkb_results_entry *entry,
                          const char *path, pkb_error *err)
{
    const int fd = entry->file == 0 ? results->fd : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const ssize_t bytes = fd < 0 ? -1 : pread(fd, text, entry->bytes, entry->offset);
    pkb_code rc = PKB_OK;

    if (bytes < 0)
        rc = pkb_error_set_errno(err, PKB_ERR_DISK, "cannot read %s", path);
    else if ((size_t)bytes < entry->bytes)
        rc = complain_of_change(path, err);
    if (entry->file > 0 && fd >= 0)
        close(fd);
    return rc;
}

pkb_code pkb_results_read(const pkb_results *results, const pkb_results_entry *entry, cJSON **out,
                          pkb_error *err)
{
    const char *path = entry->file == 0 ? results->path : results->others[entry->file - 1];
    char *text = malloc(entry->bytes + 1);
    cJSON *record = NULL;

    if (text == NULL)
        return no_memory(err);
    pkb_code rc = read_text(text, results, entry, path, err);
    if (rc == PKB_OK && (pkb_json_parse(&record, text, entry->bytes, path, NULL) != PKB_OK ||
                         !is_same(entry, record)))
        rc = complain_of_change(path, err);
    free(text);
    if (rc != PKB_OK) {
        cJSON_Delete(record);
        return rc;
    }
    *out = record;
    return PKB_OK;
}

/* ---- opening, appending ---- */

/* An editor puts another file in its place: what went into the old one would be lost. */
static bool is_in_place(const pkb_results *results)
{
    struct stat mine, there;
    return !results->is_file ||
           (fstat(results->fd, &mine) == 0 && stat(results->path, &there) == 0 &&
            mine.st_dev == there.st_dev && mine.st_ino == there.st_ino);
}

static int open_or_make(const char *path, bool *is_new)
{
    const int flags = O_RDWR | O_APPEND | O_CLOEXEC | O_NONBLOCK;
    const int fd = open(path, flags | O_CREAT | O_EXCL, 0644);

    *is_new = fd >= 0;
    return !*is_new && errno == EEXIST ? open(path, flags | O_CREAT, 0644) : fd;
}

static pkb_code lock_file(pkb_results *results, const char *path, bool *is_new, pkb_error *err)
{
    struct stat status;

    results->fd = open_or_make(path, is_new);
    if (results->fd < 0)
        return pkb_error_set_errno(err, PKB_ERR_DISK,
                                   "cannot store records in %s (name a file with -o, or use "
                                   "--no-save)",
                                   path);
    if (fstat(results->fd, &status) != 0 || !S_ISREG(status.st_mode))
        return pkb_error_set(err, PKB_ERR_USAGE, 0,
                             "%s is no ordinary file, so a run could not go on from it; name one "
                             "with -o, or use --no-save --json",
                             path);
    if (flock(results->fd, LOCK_EX | LOCK_NB) == 0)
        return PKB_OK;
    if (errno == EWOULDBLOCK)
        return pkb_error_set(err, PKB_ERR_USAGE, 0,
                             "another pkbench is writing %s; wait for it, or name another file "
                             "with -o",
                             path);
    return pkb_error_set_errno(err, PKB_ERR_DISK, "cannot lock %s", path);
}

/* Who had the lock before may have taken the file away again, since there was nothing in it. */
static pkb_code open_file(pkb_results *results, const char *path, pkb_error *err)
{
    bool is_new = false;
    pkb_code rc = lock_file(results, path, &is_new, err);

    while (rc == PKB_OK && !is_in_place(results)) {
        close(results->fd);
        rc = lock_file(results, path, &is_new, err);
    }
    results->is_new = rc == PKB_OK && is_new;
    return rc;
}

/* An empty file would say that something was judged. What a link leads to stays. */
static void remove_unused(const pkb_results *results)
{
    struct stat mine, there;

    if (results->is_new && fstat(results->fd, &mine) == 0 && mine.st_size == 0 &&
        lstat(results->path, &there) == 0 && mine.st_dev == there.st_dev &&
        mine.st_ino == there.st_ino)
        unlink(results->path);
}

static pkb_code open_own(pkb_results *results, const char *path, pkb_error *err)
{
    results->path = strdup(path != NULL ? path : "the records in memory");
    if (results->path == NULL)
        return no_memory(err);
    results->is_file = path != NULL;
    if (path != NULL)
        return open_file(results, path, err);
    results->fd = memfd_create("pkb-records", MFD_CLOEXEC);
    return results->fd >= 0 ? PKB_OK
                            : pkb_error_set_errno(err, PKB_ERR_MEMORY, "no memory for the records");
}

static pkb_code name_others(pkb_results *results, const pkb_results_options *options,
                            pkb_error *err)
{
    results->others = calloc(options->other_count + 1, sizeof *results->others);
    if (results->others == NULL)
        return no_memory(err);
    for (size_t i = 0; i < options->other_count; i++) {
        results->others[i] = strdup(options->others[i]);
        if (results->others[i] == NULL)
            return no_memory(err);
        results->other_count++;
    }
    return PKB_OK;
}

pkb_code pkb_results_open(pkb_results *out, const pkb_results_options *options, pkb_error *err)
{
    pkb_results results = PKB_RESULTS_NONE;

    results.visit = options->visit;
    results.context = options->context;
    pkb_code rc = name_others(&results, options, err);
    if (rc == PKB_OK)
        rc = open_own(&results, options->path, err);
    for (size_t i = 0; i < results.other_count && rc == PKB_OK; i++)
        rc = read_other(&results, i, err);
    if (rc == PKB_OK)
        rc = read_own(&results, err);
    if (rc != PKB_OK) {
        pkb_results_close(&results);
        return rc;
    }
    results.visit = NULL;
    *out = results;
    return PKB_OK;
}

void pkb_results_close(pkb_results *results)
{
    for (size_t i = 0; i < results->other_count; i++)
        free(results->others[i]);
    free(results->others);
    remove_unused(results);
    free(results->path);
    pkb_results_index_clear(&results->index);
    if (results->fd >= 0)
        close(results->fd);
    *results = (pkb_results)PKB_RESULTS_NONE;
}

pkb_code pkb_results_append(pkb_results *results, const cJSON *record, pkb_error *err)
{
    pkb_results_entry entry = {.is_new = true, .offset = lseek(results->fd, 0, SEEK_END)};
    const char *id = NULL;
    char *text = pkb_json_line(record);
    pkb_buf line = {0};

    if (text != NULL)
        pkb_buf_printf(&line, "%s\n", text);
    cJSON_free(text);
    pkb_code rc = text == NULL ? no_memory(err) : pkb_buf_check(&line, "the record", err);
    if (rc == PKB_OK && !describe(&entry, &id, record))
        rc = pkb_error_set(err, PKB_ERR_FORMAT, 0, "a record lacks its id, judgement or verdict");
    if (rc == PKB_OK && !is_in_place(results))
        rc = complain_of_change(results->path, err);
    if (rc == PKB_OK)
        rc = pkb_fs_append_fd(results->fd, results->path, pkb_buf_text(&line), line.bytes, err);
    if (rc == PKB_OK) {
        entry.bytes = line.bytes - 1;
        rc = pkb_results_index_add(&results->index, &entry, id, err);
    }
    pkb_buf_clear(&line);
    return rc;
}
