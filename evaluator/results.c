/* SPDX-License-Identifier: Apache-2.0
 *
 * Keeps records on disk; see results.h. Only places are kept in memory, since a record may hold
 * the times of hundreds of batches.
 */
#include "evaluator/results.h"

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
#include "base/verdict.h"

static pkb_code no_memory(pkb_error *err)
{
    return pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for the records");
}

/* ---- entries ---- */

static pkb_code add_entry(pkb_results *results, const pkb_results_entry *entry, const char *id,
                          pkb_error *err)
{
    if (results->count == results->capacity) {
        const size_t wanted = results->capacity == 0 ? 64 : 2 * results->capacity;
        pkb_results_entry *larger =
            reallocarray(results->entries, wanted, sizeof *results->entries);
        if (larger == NULL)
            return no_memory(err);
        results->entries = larger;
        results->capacity = wanted;
    }
    pkb_results_entry *added = &results->entries[results->count];
    *added = *entry;
    added->id = strdup(id);
    if (added->id == NULL)
        return no_memory(err);
    results->count++;
    return PKB_OK;
}

/* False: it is no record. */
static bool describe(pkb_results_entry *out, const char **id, const cJSON *record)
{
    const char *judgement = pkb_json_string_or(record, "judgement", "");
    pkb_verdict verdict = PKB_VERDICT_INFRA_ERROR;

    *id = pkb_json_string_or(record, "id", "");
    if ((*id)[0] == '\0' || strlen(judgement) >= sizeof out->judgement ||
        pkb_verdict_parse(pkb_json_string_or(record, "verdict", ""), &verdict, NULL) != PKB_OK)
        return false;
    snprintf(out->judgement, sizeof out->judgement, "%s", judgement);
    out->is_pending = verdict == PKB_VERDICT_INFRA_ERROR;
    return true;
}

const pkb_results_entry *pkb_results_find(const pkb_results *results, const char *id,
                                          const char *judgement, bool only_new)
{
    for (size_t i = results->count; i-- > 0;) {
        const pkb_results_entry *entry = &results->entries[i];
        if (!entry->is_pending && (entry->is_new || !only_new) &&
            strcmp(entry->judgement, judgement) == 0 && (id == NULL || strcmp(entry->id, id) == 0))
            return entry;
    }
    return NULL;
}

/* ---- reading ---- */

/* A line with its end; the last one may lack that. */
static pkb_code take_line(pkb_results *results, const char *line, size_t bytes, off_t offset,
                          size_t number, pkb_error *err)
{
    const bool is_whole = line[bytes - 1] == '\n';
    pkb_results_entry entry = {.offset = offset, .bytes = bytes - is_whole};
    cJSON *record = NULL;
    const char *id = NULL;
    pkb_code rc = PKB_OK;

    if (is_whole && bytes == 1)
        return PKB_OK;
    if (pkb_json_parse(&record, line, entry.bytes, "a record", NULL) == PKB_OK &&
        describe(&entry, &id, record)) {
        rc = add_entry(results, &entry, id, err);
    } else if (!is_whole && line[0] == '{') {
        results->cut_bytes = bytes;
    } else {
        results->broken_count++;
        if (results->broken_line == 0)
            results->broken_line = number;
    }
    cJSON_Delete(record);
    return rc;
}

/* A line that was cut is removed, a last line that only lacks its end gets one: what is appended
 * next must stand on a line of its own. */
static pkb_code mend_end(const pkb_results *results, off_t size, bool is_whole, pkb_error *err)
{
    if (results->cut_bytes > 0) {
        if (ftruncate(results->fd, size - (off_t)results->cut_bytes) != 0)
            return pkb_error_set_errno(err, PKB_ERR_DISK, "cannot remove the cut line of %s",
                                       results->path);
        return PKB_OK;
    }
    return is_whole ? PKB_OK : pkb_fs_append_fd(results->fd, results->path, "\n", 1, err);
}

static pkb_code read_all(pkb_results *results, pkb_error *err)
{
    int fd = dup(results->fd);
    FILE *file = fd >= 0 ? fdopen(fd, "r") : NULL;
    char *line = NULL;
    size_t capacity = 0;
    off_t offset = 0;
    bool is_whole = true;
    pkb_code rc = PKB_OK;

    if (file == NULL) {
        rc = pkb_error_set_errno(err, PKB_ERR_DISK, "cannot read %s", results->path);
        if (fd >= 0)
            close(fd);
        return rc;
    }
    ssize_t bytes;
    for (size_t number = 1; rc == PKB_OK && (bytes = getline(&line, &capacity, file)) > 0;
         number++) {
        is_whole = line[bytes - 1] == '\n';
        rc = take_line(results, line, (size_t)bytes, offset, number, err);
        offset += bytes;
    }
    if (rc == PKB_OK && ferror(file))
        rc = pkb_error_set_errno(err, PKB_ERR_DISK, "cannot read %s", results->path);
    if (rc == PKB_OK)
        rc = mend_end(results, offset, is_whole, err);
    free(line);
    fclose(file);
    return rc;
}

pkb_code pkb_results_read(const pkb_results *results, const pkb_results_entry *entry, cJSON **out,
                          pkb_error *err)
{
    char *text = malloc(entry->bytes + 1);
    pkb_code rc = PKB_OK;

    if (text == NULL)
        return no_memory(err);
    if (pread(results->fd, text, entry->bytes, entry->offset) == (ssize_t)entry->bytes)
        rc = pkb_json_parse(out, text, entry->bytes, results->path, err);
    else
        rc = pkb_error_set_errno(err, PKB_ERR_DISK, "cannot read %s", results->path);
    free(text);
    return rc;
}

/* ---- opening, appending ---- */

static pkb_code open_file(pkb_results *results, const char *path, pkb_error *err)
{
    struct stat status;

    results->fd = open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0644);
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

pkb_code pkb_results_open(pkb_results *out, const char *path, pkb_error *err)
{
    pkb_results results = PKB_RESULTS_NONE;
    pkb_code rc = PKB_OK;

    results.path = strdup(path != NULL ? path : "the records in memory");
    if (results.path == NULL) {
        rc = no_memory(err);
    } else if (path != NULL) {
        rc = open_file(&results, path, err);
    } else {
        results.fd = memfd_create("pkb-records", MFD_CLOEXEC);
        if (results.fd < 0)
            rc = pkb_error_set_errno(err, PKB_ERR_MEMORY, "no memory for the records");
    }
    if (rc == PKB_OK)
        rc = read_all(&results, err);
    if (rc != PKB_OK) {
        pkb_results_close(&results);
        return rc;
    }
    *out = results;
    return PKB_OK;
}

void pkb_results_close(pkb_results *results)
{
    for (size_t i = 0; i < results->count; i++)
        free(results->entries[i].id);
    free(results->entries);
    free(results->path);
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
    if (rc == PKB_OK)
        rc = pkb_fs_append_fd(results->fd, results->path, pkb_buf_text(&line), line.bytes, err);
    if (rc == PKB_OK) {
        entry.bytes = line.bytes - 1;
        rc = add_entry(results, &entry, id, err);
    }
    pkb_buf_clear(&line);
    return rc;
}
