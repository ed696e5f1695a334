/* SPDX-License-Identifier: Apache-2.0
 *
 * Imports completions; see import.h.
 */
#include "evaluator/completion/import.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/fs.h"
#include "evaluator/attempt/entry.h"
#include "evaluator/completion/completion.h"
#include "evaluator/completion/import_files.h"
#include "evaluator/completion/import_source.h"
#include "evaluator/completion/run_plan.h"
#include "evaluator/console/clean.h"
#include "evaluator/console/interrupt.h"

enum { SHOWN_FAULTS = 20 };

/* Which sample a line is. */
typedef struct entry {
    const char *problem;
    int64_t sample;
    size_t line;
} entry;

/* How the lines of a problem say which sample they are. */
typedef struct tally {
    const char *problem;
    size_t first_line;
    int64_t count;
    bool has_samples;
} tally;

typedef struct importer {
    const pkb_import_options *options;
    pkb_import_source source;
    const pkb_catalogue *catalogue;
    pkb_import_result *result;
    entry *entries; /* in the order of the lines, until all are known */
    size_t count, capacity;
    tally *tallies; /* one for each problem of the catalogue */
    size_t fault_count;
    pkb_run_plan plan;
    size_t next; /* while writing: the entry of the next line */
} importer;

static pkb_code no_memory(const importer *import, pkb_error *err)
{
    return pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for the completions of %s",
                         import->options->file);
}

/* A fault of the file: told at once, and the look goes on. */
static void tell_fault(importer *import, size_t line, const char *why)
{
    pkb_buf text = {0};

    if (import->fault_count++ >= SHOWN_FAULTS)
        return;
    pkb_clean_append(&text, import->source.name, strlen(import->source.name), SIZE_MAX);
    pkb_buf_printf(&text, ":%zu: ", line);
    pkb_clean_append(&text, why, strlen(why), SIZE_MAX);
    fprintf(stderr, "%s\n", pkb_buf_text(&text));
    pkb_buf_clear(&text);
}

/* ---- first: every line is looked at ---- */

static tally *tally_of(importer *import, const char *problem)
{
    size_t place = 0;
    while (import->catalogue->names[place] != problem)
        place++;
    return &import->tallies[place];
}

/* k, as the line says or counted. PKB_ERR_FORMAT: some lines of the problem say it, others not. */
static pkb_code number(importer *import, pkb_completion *completion, size_t line, pkb_error *err)
{
    tally *own = tally_of(import, completion->reply.problem);

    if (own->first_line == 0) {
        own->first_line = line;
        own->has_samples = completion->has_sample;
    }
    if (own->has_samples != completion->has_sample)
        return pkb_error_set(err, PKB_ERR_FORMAT, 0,
                             "\"sample\" is %s here and %s in line %zu: the lines of %s must all "
                             "have it, or none",
                             completion->has_sample ? "given" : "missing",
                             completion->has_sample ? "missing" : "given", own->first_line,
                             completion->reply.problem);
    if (!completion->has_sample)
        completion->reply.sample = own->count++;
    return PKB_OK;
}

static pkb_code add_entry(importer *import, const pkb_reply *reply, size_t line, pkb_error *err)
{
    if (import->count == PKB_COMPLETION_MOST_SAMPLES)
        return pkb_error_set(err, PKB_ERR_USAGE, 0,
                             "%s has more than %d completions; split the file", import->source.name,
                             PKB_COMPLETION_MOST_SAMPLES);
    if (import->count == import->capacity) {
        const size_t wanted = 2 * import->capacity + 256;
        entry *larger = reallocarray(import->entries, wanted, sizeof *larger);
        if (larger == NULL)
            return no_memory(import, err);
        import->entries = larger;
        import->capacity = wanted;
    }
    import->entries[import->count++] =
        (entry){.problem = reply->problem, .sample = reply->sample, .line = line};
    return PKB_OK;
}

/* What is there already must be the same, or may be replaced. */
static pkb_code check_place(const importer *import, const pkb_reply *reply, pkb_error *err)
{
    pkb_import_files files = {0};
    bool is_same = false;

    if (import->options->replaces)
        return PKB_OK;
    pkb_code rc = pkb_import_files_make(&files, import->options->folder, reply, err);
    const char *path = pkb_buf_text(&files.source_path);
    if (rc == PKB_OK && pkb_fs_exists(path)) {
        rc = pkb_import_files_compare(&is_same, &files, err);
        if (rc == PKB_OK && !is_same)
            rc = pkb_error_set(err, PKB_ERR_FORMAT, 0,
                               "%s is there and came from another completion; --replace overwrites",
                               path);
    }
    pkb_import_files_clear(&files);
    return rc;
}

/* Samples must not land outside the run's folder. */
static pkb_code check_links(const char *run, const char *problem, pkb_error *err)
{
    pkb_buf path = {0};

    pkb_buf_printf(&path, "%s/samples", run);
    pkb_code rc = pkb_buf_check(&path, "the name of a folder", err);
    if (rc == PKB_OK)
        rc = pkb_entry_require_inside(run, pkb_buf_text(&path), err);
    pkb_buf_printf(&path, "/%s", problem);
    if (rc == PKB_OK)
        rc = pkb_buf_check(&path, "the name of a folder", err);
    if (rc == PKB_OK)
        rc = pkb_entry_require_inside(run, pkb_buf_text(&path), err);
    pkb_buf_clear(&path);
    return rc;
}

static pkb_code check_line(importer *import, const pkb_line *line, pkb_error *err)
{
    pkb_completion completion = {0};
    pkb_error why = {0};

    pkb_code rc = pkb_completion_parse(&completion, import->catalogue, line, &why);
    if (rc == PKB_OK)
        rc = number(import, &completion, line->number, &why);
    if (rc == PKB_OK)
        rc = add_entry(import, &completion.reply, line->number, &why);
    if (rc == PKB_OK)
        rc = check_links(import->options->folder, completion.reply.problem, &why);
    if (rc == PKB_OK)
        rc = pkb_run_plan_take(&import->plan, &completion.reply, &why);
    if (rc == PKB_OK)
        rc = check_place(import, &completion.reply, &why);
    pkb_completion_clear(&completion);
    if (rc == PKB_ERR_FORMAT) {
        tell_fault(import, line->number, why.message);
        return PKB_OK;
    }
    if (rc != PKB_OK && err != NULL)
        *err = why;
    return rc;
}

static int compare(const void *a, const void *b)
{
    const entry *first = a, *second = b;
    const int order = strcmp(first->problem, second->problem);

    if (order != 0)
        return order;
    if (first->sample != second->sample)
        return first->sample < second->sample ? -1 : 1;
    return (first->line > second->line) - (first->line < second->line);
}

static int compare_lines(const void *a, const void *b)
{
    const entry *first = a, *second = b;
    return (first->line > second->line) - (first->line < second->line);
}

static void find_doubles(importer *import)
{
    pkb_buf why = {0};

    if (import->count > 0)
        qsort(import->entries, import->count, sizeof *import->entries, compare);
    for (size_t i = 1; i < import->count; i++) {
        const entry *first = &import->entries[i - 1], *second = &import->entries[i];
        if (first->problem != second->problem || first->sample != second->sample)
            continue;
        pkb_buf_clear(&why);
        pkb_buf_printf(&why, "sample %lld of %s stands in line %zu, too", (long long)second->sample,
                       second->problem, first->line);
        tell_fault(import, second->line, pkb_buf_text(&why));
    }
    if (import->count > 0)
        qsort(import->entries, import->count, sizeof *import->entries, compare_lines);
    pkb_buf_clear(&why);
}

/* ---- then: the samples are written ---- */

static void count(pkb_import_result *result, pkb_extract_status found, bool is_same)
{
    result->code_count += found == PKB_EXTRACT_CODE;
    result->no_code_count += found == PKB_EXTRACT_NO_CODE;
    result->truncated_count += found == PKB_EXTRACT_TRUNCATED;
    result->kept_count += is_same;
}

static pkb_code complain_of_change(const importer *import, pkb_error *err)
{
    return pkb_error_set(err, PKB_ERR_USAGE, 0,
                         "%s changed while it was read; import it again when it is complete",
                         import->source.name);
}

/* Is this still the line that was looked at? */
static bool is_known(const importer *import, const pkb_completion *completion, size_t line)
{
    if (import->next == import->count)
        return false;
    const entry *known = &import->entries[import->next];
    return known->line == line && known->problem == completion->reply.problem &&
           (!completion->has_sample || known->sample == completion->reply.sample);
}

static pkb_code write_sample(importer *import, const pkb_reply *reply, pkb_error *err)
{
    pkb_import_files files = {0};
    bool is_same = false;

    pkb_code rc = pkb_import_files_make(&files, import->options->folder, reply, err);
    if (rc == PKB_OK)
        rc = pkb_import_files_compare(&is_same, &files, err);
    if (rc == PKB_OK && !is_same)
        rc = pkb_import_files_write(&files, err);
    if (rc == PKB_OK)
        count(import->result, files.found, is_same);
    pkb_import_files_clear(&files);
    return rc;
}

static pkb_code write_line(importer *import, const pkb_line *line, pkb_error *err)
{
    pkb_completion completion = {0};

    pkb_code rc = pkb_completion_parse(&completion, import->catalogue, line, err);
    if (rc == PKB_ERR_FORMAT)
        rc = complain_of_change(import, err);
    else if (rc == PKB_OK && !is_known(import, &completion, line->number))
        rc = complain_of_change(import, err);
    else if (rc == PKB_OK) {
        completion.reply.sample = import->entries[import->next++].sample;
        rc = write_sample(import, &completion.reply, err);
    }
    pkb_completion_clear(&completion);
    return rc;
}

/* ---- the whole ---- */

typedef pkb_code take_line(importer *import, const pkb_line *line, pkb_error *err);

static pkb_code read_lines(importer *import, take_line *take, pkb_error *err)
{
    pkb_lines lines = PKB_LINES_NONE;
    pkb_line line = {0};

    pkb_code rc = pkb_import_source_lines(&lines, &import->source, PKB_COMPLETION_LIMIT_BYTES, err);
    while (rc == PKB_OK) {
        rc = pkb_interrupt_check(err);
        if (rc == PKB_OK)
            rc = pkb_lines_next(&lines, &line, err);
        if (rc != PKB_OK || line.text == NULL)
            break;
        if (line.is_too_long || strspn(line.text, " \t\r") < line.bytes)
            rc = take(import, &line, err);
    }
    pkb_lines_close(&lines);
    return rc;
}

static pkb_code judge_file(const importer *import, pkb_error *err)
{
    const char *file = import->source.name;

    if (import->fault_count > SHOWN_FAULTS)
        fprintf(stderr, "… and %zu faults more\n", import->fault_count - SHOWN_FAULTS);
    if (import->fault_count > 0)
        return pkb_error_set(err, PKB_ERR_USAGE, 0,
                             "%s has %zu fault%s, named above; nothing was written", file,
                             import->fault_count, import->fault_count == 1 ? "" : "s");
    if (import->count == 0)
        return pkb_error_set(err, PKB_ERR_USAGE, 0,
                             "%s holds no completions; a line is {\"problem\": \"001_allreduce\", "
                             "\"completion\": \"…\"}",
                             file);
    return PKB_OK;
}

static pkb_code check_folder(const char *folder, pkb_error *err)
{
    struct stat status;
    if (strcmp(folder, "-") == 0)
        return pkb_error_set(err, PKB_ERR_USAGE, 0,
                             "a run is a folder, and '-' is none: name the folder of a run, which "
                             "need not exist yet");
    if (stat(folder, &status) == 0 && !S_ISDIR(status.st_mode))
        return pkb_error_set(err, PKB_ERR_USAGE, 0,
                             "%s is no folder; name the folder of a run, which need not exist yet",
                             folder);
    return PKB_OK;
}

pkb_code pkb_import(const pkb_import_options *options, const pkb_catalogue *catalogue,
                    pkb_import_result *out, pkb_error *err)
{
    importer import = {.options = options,
                       .source = PKB_IMPORT_SOURCE_NONE,
                       .catalogue = catalogue,
                       .result = out};

    *out = (pkb_import_result){0};
    import.tallies = calloc(catalogue->count + 1, sizeof *import.tallies);
    pkb_code rc =
        import.tallies != NULL ? check_folder(options->folder, err) : no_memory(&import, err);
    if (rc == PKB_OK)
        rc = pkb_import_source_open(&import.source, options->file, err);
    if (rc == PKB_OK)
        rc = read_lines(&import, check_line, err);
    if (rc == PKB_OK) {
        find_doubles(&import);
        rc = judge_file(&import, err);
    }
    if (rc == PKB_OK)
        rc = read_lines(&import, write_line, err);
    if (rc == PKB_OK && import.next < import.count)
        rc = complain_of_change(&import, err);
    if (rc == PKB_OK)
        rc = pkb_run_plan_write(&import.plan, options->folder, catalogue, err);
    if (rc == PKB_OK && import.plan.is_new) {
        out->planned_problems = import.plan.problems;
        out->planned_samples = import.plan.samples;
    }
    out->model_count = (size_t)cJSON_GetArraySize(import.plan.models);
    pkb_import_source_close(&import.source);
    pkb_run_plan_clear(&import.plan);
    free(import.entries);
    free(import.tallies);
    return rc;
}
