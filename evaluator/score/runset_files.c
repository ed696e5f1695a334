/* SPDX-License-Identifier: Apache-2.0
 *
 * Files of records and the lines in them; see runset_state.h. A line is dropped as soon as it is
 * read: records with their batches would fill the memory.
 */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fs.h"
#include "base/lines.h"
#include "evaluator/record/record.h"
#include "evaluator/score/runset_state.h"

enum { SHOWN_BROKEN = 5 };

static pkb_code no_memory(pkb_error *err)
{
    return pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for the records");
}

/* ---- lines ---- */

static bool is_selected(const pkb_runset *runset, const char *problem)
{
    for (size_t i = 0; i < runset->problem_count; i++)
        if (runset->problems[i].name == problem)
            return true;
    return false;
}

static bool is_asked(const pkb_runset *runset, const pkb_outcome *outcome,
                     const pkb_runset_options *options)
{
    const struct {
        const char *wanted;
        pkb_condition condition;
    } filters[] = {{options->run, PKB_CONDITION_RUN},
                   {options->device, PKB_CONDITION_DEVICE},
                   {options->world, PKB_CONDITION_WORLD}};

    for (size_t i = 0; i < sizeof filters / sizeof filters[0]; i++)
        if (filters[i].wanted != NULL &&
            strcmp(filters[i].wanted, outcome->conditions[filters[i].condition]) != 0)
            return false;
    return options->problems == NULL || is_selected(runset, outcome->problem);
}

static pkb_code add(pkb_runset *runset, const pkb_outcome *outcome,
                    const pkb_runset_options *options, pkb_error *err)
{
    if (!is_asked(runset, outcome, options))
        return pkb_runset_count_other(runset, outcome, err);
    if (outcome->is_debug) {
        runset->debug_count++;
        return PKB_OK;
    }
    if (runset->count == runset->capacity) {
        const size_t wanted = 2 * runset->capacity + 256;
        pkb_outcome *larger = reallocarray(runset->outcomes, wanted, sizeof *larger);
        if (larger == NULL)
            return no_memory(err);
        runset->outcomes = larger;
        runset->capacity = wanted;
    }
    runset->outcomes[runset->count++] = *outcome;
    return PKB_OK;
}

/* A line that is no record may have been anybody's: it is counted, told and marks the score. */
static pkb_code report(pkb_runset *runset, const char *path, const pkb_line *line, const char *why,
                       pkb_error *err)
{
    runset->broken_count++;
    if (runset->broken_count > SHOWN_BROKEN)
        return PKB_OK;
    return pkb_runset_note(runset, err, "%s:%zu is no record: %s", path, line->number,
                           line->is_too_long ? "it is longer than a record can be"
                           : !line->is_whole ? "the file ends in its middle"
                                             : why);
}

static pkb_code take_line(pkb_runset *runset, const pkb_line *line,
                          const pkb_runset_options *options, pkb_error *err)
{
    const size_t file = runset->file_count - 1;
    const char *path = runset->files[file].path;
    pkb_outcome outcome = {0};
    pkb_error why = {0};

    if (line->bytes == 0 && !line->is_too_long)
        return PKB_OK;
    pkb_code rc = line->is_too_long
                      ? PKB_ERR_FORMAT
                      : pkb_outcome_parse(&outcome, &runset->names, line->text, line->bytes, &why);
    if (rc == PKB_ERR_FORMAT)
        return report(runset, path, line, why.message, err);
    if (rc != PKB_OK)
        return pkb_error_set(err, rc, 0, "%s:%zu cannot be read: %s", path, line->number,
                             why.message);
    outcome.file = file;
    outcome.line = line->number;
    outcome.offset = line->offset;
    outcome.bytes = line->bytes;
    return add(runset, &outcome, options, err);
}

static pkb_code read_lines(pkb_runset *runset, pkb_lines *lines, const pkb_runset_options *options,
                           pkb_error *err)
{
    pkb_line line = {0};

    for (;;) {
        pkb_code rc = pkb_lines_next(lines, &line, err);
        if (rc != PKB_OK || line.text == NULL)
            return rc;
        rc = take_line(runset, &line, options, err);
        if (rc != PKB_OK)
            return rc;
    }
}

/* ---- files ---- */

/* A file under two names, by a link or in two arguments, is read once. */
static const char *find_twin(const pkb_runset *runset, const struct stat *status)
{
    for (size_t i = 0; i < runset->file_count; i++)
        if (runset->files[i].device == status->st_dev && runset->files[i].inode == status->st_ino)
            return runset->files[i].path;
    return NULL;
}

static bool is_file(const char *path, const struct stat *status)
{
    struct stat own;

    return stat(path, &own) == 0 && own.st_dev == status->st_dev && own.st_ino == status->st_ino;
}

/* run.json, or a sample or the file beside it. */
static bool belongs_to(const pkb_runset_folder *folder, const struct stat *status)
{
    pkb_buf path = {0};

    pkb_buf_printf(&path, "%s/run.json", folder->path);
    bool belongs = is_file(pkb_buf_text(&path), status);
    for (size_t i = 0; i < folder->sources.count && !belongs; i++) {
        const char *source = folder->sources.items[i].path;
        pkb_buf_clear(&path);
        pkb_buf_append(&path, source, strlen(source) - strlen(".cu"));
        pkb_buf_append_string(&path, ".json");
        belongs = is_file(source, status) || is_file(pkb_buf_text(&path), status);
    }
    pkb_buf_clear(&path);
    return belongs;
}

bool pkb_runset_has_file(const pkb_runset *runset, const char *path)
{
    struct stat status;

    if (stat(path, &status) != 0)
        return false;
    bool has = find_twin(runset, &status) != NULL;
    for (size_t i = 0; i < runset->folder_count && !has; i++)
        has = belongs_to(&runset->folders[i], &status);
    return has;
}

static pkb_code add_file(pkb_runset *runset, const char *path, size_t folder,
                         const struct stat *status, pkb_error *err)
{
    pkb_runset_file *larger =
        reallocarray(runset->files, runset->file_count + 1, sizeof *runset->files);
    if (larger == NULL)
        return no_memory(err);
    runset->files = larger;
    larger[runset->file_count] = (pkb_runset_file){
        .path = strdup(path), .folder = folder, .device = status->st_dev, .inode = status->st_ino};
    return larger[runset->file_count++].path != NULL ? PKB_OK : no_memory(err);
}

static pkb_code read_file(pkb_runset *runset, const char *path, size_t folder,
                          const pkb_runset_options *options, pkb_error *err)
{
    pkb_lines lines = PKB_LINES_NONE;
    struct stat status;

    pkb_code rc = pkb_lines_open(&lines, path, PKB_RECORD_LIMIT_BYTES, err);
    if (rc != PKB_OK)
        return rc;
    if (fstat(lines.fd, &status) != 0) {
        rc = pkb_error_set_errno(err, PKB_ERR_IO, "cannot look at %s", path);
    } else if (find_twin(runset, &status) != NULL) {
        rc = pkb_runset_note(runset, err, "%s and %s are one file, which counts once",
                             find_twin(runset, &status), path);
    } else {
        rc = add_file(runset, path, folder, &status, err);
        if (rc == PKB_OK)
            rc = read_lines(runset, &lines, options, err);
    }
    pkb_lines_close(&lines);
    return rc;
}

/* ---- folders ---- */

static int is_results_file(const struct dirent *entry)
{
    static const char suffix[] = ".jsonl";
    const size_t length = strlen(entry->d_name), end = sizeof suffix - 1;
    return entry->d_name[0] != '.' && length > end &&
           strcmp(entry->d_name + length - end, suffix) == 0;
}

static pkb_code add_folder(pkb_runset *runset, const char *path, pkb_error *err)
{
    pkb_runset_folder *larger =
        reallocarray(runset->folders, runset->folder_count + 1, sizeof *runset->folders);
    if (larger == NULL)
        return no_memory(err);
    runset->folders = larger;
    larger[runset->folder_count] = (pkb_runset_folder){.path = strdup(path)};
    return larger[runset->folder_count++].path != NULL ? PKB_OK : no_memory(err);
}

static pkb_code read_results(pkb_runset *runset, const char *results,
                             const pkb_runset_options *options, int *count, pkb_error *err)
{
    struct dirent **entries = NULL;
    pkb_code rc = PKB_OK;

    *count = scandir(results, &entries, is_results_file, versionsort);
    for (int i = 0; i < *count; i++) {
        char *path = rc == PKB_OK ? pkb_fs_join(results, entries[i]->d_name) : NULL;
        if (rc == PKB_OK)
            rc = path == NULL ? no_memory(err)
                              : read_file(runset, path, runset->folder_count - 1, options, err);
        free(path);
        free(entries[i]);
    }
    free(entries);
    return rc;
}

static pkb_code read_folder(pkb_runset *runset, const char *path, const pkb_runset_options *options,
                            pkb_error *err)
{
    char *results = pkb_fs_join(path, "results");
    int count = 0;

    if (results == NULL)
        return no_memory(err);
    pkb_code rc = add_folder(runset, path, err);
    if (rc == PKB_OK)
        rc = read_results(runset, results, options, &count, err);
    if (rc == PKB_OK && count <= 0)
        rc = pkb_error_set(err, PKB_ERR_USAGE, 0,
                           "%s holds no results/*.jsonl: judge it first (pkbench eval %s), or name "
                           "files of records",
                           path, path);
    free(results);
    return rc;
}

pkb_code pkb_runset_read_path(pkb_runset *runset, const char *path,
                              const pkb_runset_options *options, pkb_error *err)
{
    struct stat status;

    if (strcmp(path, "-") == 0)
        return pkb_error_set(err, PKB_ERR_USAGE, 0,
                             "records are read more than once, so not from standard input: store "
                             "them in a file, or name it ./- if it has that name");
    if (stat(path, &status) != 0)
        return pkb_error_set_errno(err, PKB_ERR_USAGE, "cannot find the run %s", path);
    if (S_ISDIR(status.st_mode))
        return read_folder(runset, path, options, err);
    return read_file(runset, path, PKB_RUNSET_NO_FOLDER, options, err);
}
