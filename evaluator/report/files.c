/* SPDX-License-Identifier: Apache-2.0
 *
 * Sources and logs beside records; see files.h.
 */
#include "evaluator/report/files.h"

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/hash.h"
#include "evaluator/console/clean.h"
#include "evaluator/report/link.h"
#include "evaluator/report/report.h"

enum { SOURCE_BYTES = 1 << 20 };

/* The part of a path below a folder that it begins with. */
static const char *below(const char *path, const char *folder)
{
    const size_t length = strlen(folder);

    if (strncmp(path, folder, length) != 0)
        return NULL;
    path += length;
    return path + strspn(path, "/");
}

/* A link of a base, then a path below it. */
static pkb_code number_path(size_t *out, pkb_attempts *attempts, const char *base, const char *path,
                            pkb_error *err)
{
    pkb_buf link = {0};

    pkb_buf_append_string(&link, base);
    pkb_link_encode(&link, path);
    pkb_code rc = pkb_buf_check(&link, "the report", err);
    if (rc == PKB_OK)
        rc = pkb_words_add(&attempts->paths, pkb_buf_text(&link), out, err);
    *out += 1;
    pkb_buf_clear(&link);
    return rc;
}

/* Many sources share a folder, and most are named after their sample. */
static pkb_code number_source(size_t *folder, size_t *name, pkb_attempts *attempts,
                              const char *base, const char *path, int64_t sample, pkb_error *err)
{
    const char *slash = strrchr(path, '/');
    const char *file = slash != NULL ? slash + 1 : path;
    char *above = strndup(path, (size_t)(file - path)), usual[32];
    pkb_code rc = PKB_OK;

    if (above == NULL)
        return pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for the report");
    rc = number_path(folder, attempts, base, above, err);
    snprintf(usual, sizeof usual, "%lld.cu", (long long)sample);
    if (rc == PKB_OK && strcmp(file, usual) != 0)
        rc = number_path(name, attempts, "", file, err);
    free(above);
    return rc;
}

/* ---- texts ---- */

static pkb_code embed(size_t *out, pkb_attempts *attempts, const char *path, const char *sha256,
                      pkb_error *err)
{
    char *text = NULL, found[PKB_HASH_HEX_BYTES] = "";
    size_t bytes = 0;
    const size_t before = attempts->sources.count;
    pkb_buf cleaned = {0};

    pkb_code rc = pkb_fs_read(path, SOURCE_BYTES, &text, &bytes, err);
    if (rc == PKB_OK)
        rc = pkb_hash_bytes(text, bytes, found, err);
    if (rc == PKB_OK && strcmp(found, sha256) != 0) {
        attempts->changed_count++;
    } else if (rc == PKB_OK && bytes > 0) {
        pkb_clean_append_lines(&cleaned, text, bytes);
        rc = pkb_buf_check(&cleaned, "the report", err);
        if (rc == PKB_OK)
            rc = pkb_words_add(&attempts->sources, pkb_buf_text(&cleaned), out, err);
        *out += 1;
        if (attempts->sources.count > before)
            attempts->source_bytes += cleaned.bytes;
        if (rc == PKB_OK && attempts->source_bytes > PKB_REPORT_SOURCES_BYTES)
            rc = pkb_error_set(err, PKB_ERR_USAGE, 0,
                               "--embed-source takes %d MiB of sources at most, and this run has "
                               "more: leave it out (the page links to the files), or take less "
                               "with --problems",
                               PKB_REPORT_SOURCES_BYTES >> 20);
    }
    pkb_buf_clear(&cleaned);
    free(text);
    return rc;
}

/* ---- logs ---- */

static int is_log(const struct dirent *entry)
{
    static const char suffix[] = ".txt";
    const size_t length = strlen(entry->d_name), end = sizeof suffix - 1;
    return entry->d_name[0] != '.' && length > end &&
           strcmp(entry->d_name + length - end, suffix) == 0;
}

static pkb_code append_logs(pkb_buf *row, pkb_attempts *attempts, size_t folder,
                            const char *judgement, pkb_error *err)
{
    struct dirent **entries = NULL;
    pkb_buf path = {0};
    pkb_code rc = PKB_OK;

    if (judgement[0] == '\0' || judgement[strspn(judgement, "0123456789abcdef")] != '\0')
        return PKB_OK;
    pkb_buf_printf(&path, "%s/logs/%s", attempts->runset->folders[folder].path, judgement);
    rc = pkb_buf_check(&path, "the report", err);
    const int count =
        rc == PKB_OK ? scandir(pkb_buf_text(&path), &entries, is_log, versionsort) : 0;
    for (int i = 0; i < count; i++) {
        size_t number = 0;
        pkb_buf_reset(&path);
        pkb_buf_printf(&path, "logs/%s/%s", judgement, entries[i]->d_name);
        if (rc == PKB_OK)
            rc = number_path(&number, attempts, attempts->bases[folder], pkb_buf_text(&path), err);
        pkb_buf_printf(row, ",%zu", number);
        free(entries[i]);
    }
    free(entries);
    pkb_buf_clear(&path);
    return rc;
}

pkb_code pkb_attempt_files(pkb_buf *row, pkb_attempts *attempts, const pkb_outcome *outcome,
                           pkb_error *err)
{
    const pkb_runset *runset = attempts->runset;
    const size_t at = runset->files[outcome->file].folder;
    size_t code = 0, above = 0, name = 0;
    pkb_code rc = PKB_OK;

    if (at == PKB_RUNSET_NO_FOLDER) {
        pkb_buf_append_string(row, ",0,0,0");
        return PKB_OK;
    }
    const pkb_runset_folder *folder = &runset->folders[at];
    const bool has_code = outcome->verdict != PKB_VERDICT_NO_CODE &&
                          outcome->verdict != PKB_VERDICT_TRUNCATED; /* else the file is empty */
    const char *path = has_code ? pkb_runset_source(runset, outcome) : NULL;
    const char *relative = path != NULL ? below(path, folder->path) : NULL;
    if (relative != NULL)
        rc = number_source(&above, &name, attempts, attempts->bases[at], relative, outcome->sample,
                           err);
    if (rc == PKB_OK && relative != NULL && attempts->embeds_sources)
        rc = embed(&code, attempts, path, outcome->sha256, err);
    pkb_buf_printf(row, ",%zu,%zu,%zu", code, above, name);
    if (rc == PKB_OK)
        rc = append_logs(row, attempts, at, outcome->judgement, err);
    return rc;
}
