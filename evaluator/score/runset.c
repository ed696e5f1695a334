/* SPDX-License-Identifier: Apache-2.0
 *
 * One record for each attempt, and no mixtures; see runset.h.
 */
#include "evaluator/score/runset.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "evaluator/console/clean.h"
#include "evaluator/score/runset_state.h"

enum { SHOWN_VALUES = 3, NAMED_RUNS = 8, NOTE_BYTES = 600 };

pkb_code pkb_runset_note(pkb_runset *runset, pkb_error *err, const char *format, ...)
{
    char **larger = reallocarray(runset->notes, runset->note_count + 1, sizeof *larger);
    char text[NOTE_BYTES];
    pkb_buf clean = {0};
    va_list arguments;

    if (larger == NULL)
        return pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for a note");
    runset->notes = larger;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    pkb_clean_append(&clean, text, strlen(text), NOTE_BYTES);
    pkb_code rc = pkb_buf_check(&clean, "a note", err);
    if (rc == PKB_OK)
        larger[runset->note_count++] = pkb_buf_take(&clean);
    pkb_buf_clear(&clean);
    return rc;
}

/* ---- one record an attempt ---- */

/* Problem, sample, run, device, world: what an attempt is. */
static int compare_attempts(const pkb_outcome *a, const pkb_outcome *b)
{
    static const pkb_condition parts[] = {PKB_CONDITION_RUN, PKB_CONDITION_DEVICE,
                                          PKB_CONDITION_WORLD};
    int order = strcmp(a->problem, b->problem);

    if (order == 0)
        order = (a->sample > b->sample) - (a->sample < b->sample);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0] && order == 0; i++)
        order = strcmp(a->conditions[parts[i]], b->conditions[parts[i]]);
    return order;
}

static int compare_outcomes(const void *left, const void *right)
{
    const pkb_outcome *a = left, *b = right;
    const int order = compare_attempts(a, b);

    if (order != 0)
        return order;
    if (a->file != b->file)
        return a->file < b->file ? -1 : 1;
    return a->line < b->line ? -1 : 1;
}

static bool is_pending(const pkb_outcome *outcome)
{
    return outcome->verdict == PKB_VERDICT_INFRA_ERROR;
}

/* Which of two records of one attempt counts, the first of which was read first: NULL where they
 * contradict each other. The one that replaces more verdicts does, and in a file the later one, but
 * a failure of ours takes no verdict away; else nobody knows which is later. */
static const pkb_outcome *choose(const pkb_outcome *first, const pkb_outcome *second)
{
    const bool is_same = strcmp(first->judgement, second->judgement) == 0;

    if (first->revision != second->revision) {
        const pkb_outcome *later = first->revision > second->revision ? first : second;
        const pkb_outcome *other = later == first ? second : first;
        return is_same && is_pending(later) ? other : later;
    }
    if (first->file == second->file)
        return is_same && is_pending(second) ? first : second;
    if (is_pending(first) || is_pending(second))
        return is_pending(first) ? second : first;
    return is_same && first->verdict == second->verdict ? first : NULL;
}

static pkb_code complain_of_two(const pkb_runset *runset, const pkb_outcome *a,
                                const pkb_outcome *b, pkb_error *err)
{
    return pkb_error_set(err, PKB_ERR_USAGE, 0,
                         "%s:%zu and %s:%zu both judge sample %lld of %s, by other conditions or "
                         "with another end (%s, %s): name the files that should count",
                         runset->files[a->file].path, a->line, runset->files[b->file].path, b->line,
                         (long long)a->sample, a->problem, pkb_verdict_name(a->verdict),
                         pkb_verdict_name(b->verdict));
}

/* Merges neighbours that are one attempt's: those of one file, or those of several. */
static pkb_code merge(pkb_runset *runset, bool within_files, pkb_error *err)
{
    size_t kept = 0;

    for (size_t i = 0; i < runset->count; i++) {
        pkb_outcome *last = kept > 0 ? &runset->outcomes[kept - 1] : NULL;
        const pkb_outcome *next = &runset->outcomes[i];
        if (last == NULL || compare_attempts(last, next) != 0 ||
            (within_files && last->file != next->file)) {
            runset->outcomes[kept++] = *next;
            continue;
        }
        const pkb_outcome *chosen = choose(last, next);
        if (chosen == NULL)
            return complain_of_two(runset, last, next, err);
        if (chosen == next)
            *last = *next;
    }
    runset->count = kept;
    return PKB_OK;
}

static pkb_code settle(pkb_runset *runset, pkb_error *err)
{
    if (runset->count > 0)
        qsort(runset->outcomes, runset->count, sizeof *runset->outcomes, compare_outcomes);
    pkb_code rc = merge(runset, true, err);
    return rc == PKB_OK ? merge(runset, false, err) : rc;
}

/* ---- mixtures ---- */

const char *pkb_runset_condition(const pkb_runset *runset, pkb_condition condition)
{
    for (size_t i = 0; i < runset->count; i++)
        if (runset->outcomes[i].conditions[condition] != NULL)
            return runset->outcomes[i].conditions[condition];
    return NULL;
}

size_t pkb_runset_values(const pkb_runset *runset, pkb_condition condition, const char **values,
                         const pkb_outcome **first, size_t most)
{
    static const char none[] = "none";
    size_t count = 0;

    for (size_t i = 0; i < runset->count && count < most; i++) {
        const char *value = runset->outcomes[i].conditions[condition];
        if (value == NULL && pkb_condition_is_optional(condition))
            value = none;
        bool is_known = value == NULL;
        for (size_t k = 0; k < count; k++)
            is_known |= values[k] == value;
        if (is_known)
            continue;
        if (first != NULL)
            first[count] = &runset->outcomes[i];
        values[count++] = value;
    }
    return count;
}

static const char *remedy(pkb_condition condition)
{
    switch (condition) {
    case PKB_CONDITION_RUN:
        return "take one with --run, or join them with --pool";
    case PKB_CONDITION_DEVICE:
        return "take one with --device";
    case PKB_CONDITION_WORLD:
        return "take one with --world";
    case PKB_CONDITION_TIMING:
        return "judge the run with timing (pkbench eval without --no-timing judges only what was "
               "not timed), or score both together, marked, with --mix";
    case PKB_CONDITION_PROTOCOL:
    case PKB_CONDITION_MACHINE:
    case PKB_CONDITION_SANDBOX:
    case PKB_CONDITION_SIZES:
    case PKB_CONDITION_GRID:
    case PKB_CONDITION_TIMEOUT:
    case PKB_CONDITION_FEEDBACK:
    case PKB_CONDITION_POLICY:
        break;
    }
    return "name the files of one kind, or score them together, marked, with --mix";
}

static void list_values(pkb_buf *out, const pkb_runset *runset, pkb_condition condition)
{
    const char *values[SHOWN_VALUES];
    const pkb_outcome *first[SHOWN_VALUES];
    const size_t count = pkb_runset_values(runset, condition, values, first, SHOWN_VALUES);

    for (size_t i = 0; i < count; i++)
        pkb_buf_printf(out, "%s\"%.60s\" (%s:%zu)", i > 0 ? ", " : "", values[i],
                       runset->files[first[i]->file].path, first[i]->line);
}

static pkb_code refuse(const pkb_runset *runset, pkb_condition condition, pkb_error *err)
{
    pkb_buf values = {0};

    list_values(&values, runset, condition);
    pkb_error_set(err, PKB_ERR_USAGE, 0,
                  "%s should not be mixed in one score, and there are %s; %s",
                  pkb_condition_name(condition), pkb_buf_text(&values), remedy(condition));
    pkb_buf_clear(&values);
    return PKB_ERR_USAGE;
}

static pkb_code check_conditions(pkb_runset *runset, const pkb_runset_options *options,
                                 pkb_error *err)
{
    for (int c = 0; c < PKB_CONDITION_COUNT; c++) {
        const char *values[2];
        runset->is_mixed[c] = pkb_runset_values(runset, (pkb_condition)c, values, NULL, 2) > 1;
        const bool is_allowed = c == PKB_CONDITION_RUN ? options->pools : options->mixes;
        if (runset->is_mixed[c] && !is_allowed)
            return refuse(runset, (pkb_condition)c, err);
    }
    return PKB_OK;
}

/* What may not differ between records of one problem. */
typedef const char *get_trait(const pkb_outcome *outcome);

static const char *get_sizes(const pkb_outcome *outcome)
{
    return outcome->sizes_asked;
}

static const char *get_definition(const pkb_outcome *outcome)
{
    return outcome->definition;
}

/* The first record that differs from an earlier one of its problem; NULL: none does. */
static const pkb_outcome *find_odd(const pkb_runset *runset, get_trait *get,
                                   const pkb_outcome **other)
{
    const pkb_outcome *first = NULL;

    for (size_t i = 0; i < runset->count; i++) {
        const pkb_outcome *outcome = &runset->outcomes[i];
        if (first != NULL && first->problem != outcome->problem)
            first = NULL;
        if (get(outcome) == NULL)
            continue;
        if (first == NULL)
            first = outcome;
        if (get(first) == get(outcome))
            continue;
        *other = first;
        return outcome;
    }
    return NULL;
}

/* The names of sizes differ between problems, and may not within one. */
static pkb_code check_sizes(pkb_runset *runset, const pkb_runset_options *options, pkb_error *err)
{
    const pkb_outcome *first = NULL, *odd = find_odd(runset, get_sizes, &first);

    runset->has_mixed_sizes = odd != NULL;
    if (odd == NULL || options->mixes)
        return PKB_OK;
    return pkb_error_set(err, PKB_ERR_USAGE, 0,
                         "%s was judged at \"%.80s\" (%s:%zu) and at \"%.80s\" (%s:%zu): judge all "
                         "attempts at the same sizes, or use --mix",
                         odd->problem, first->sizes_asked, runset->files[first->file].path,
                         first->line, odd->sizes_asked, runset->files[odd->file].path, odd->line);
}

static pkb_code check_definitions(pkb_runset *runset, const pkb_runset_options *options,
                                  pkb_error *err)
{
    const pkb_outcome *first = NULL, *odd = find_odd(runset, get_definition, &first);

    runset->has_mixed_definitions = odd != NULL;
    if (odd == NULL || options->mixes)
        return PKB_OK;
    return pkb_error_set(err, PKB_ERR_USAGE, 0,
                         "%s was another problem when %s:%zu was judged than for %s:%zu (its file "
                         "or its reference changed): judge all attempts again, or use --mix",
                         odd->problem, runset->files[first->file].path, first->line,
                         runset->files[odd->file].path, odd->line);
}

bool pkb_runset_is_mixed(const pkb_runset *runset)
{
    bool is_mixed = runset->has_mixed_sizes || runset->has_mixed_definitions;

    for (int i = 0; i < PKB_CONDITION_COUNT; i++)
        is_mixed |= runset->is_mixed[i];
    return is_mixed;
}

/* ---- sources ---- */

const char *pkb_runset_source(const pkb_runset *runset, const pkb_outcome *outcome)
{
    const size_t folder = runset->files[outcome->file].folder;
    if (folder == PKB_RUNSET_NO_FOLDER)
        return NULL;
    const pkb_samples *sources = &runset->folders[folder].sources;
    size_t low = 0, high = sources->count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const pkb_sample *sample = &sources->items[middle];
        const int order = strcmp(sample->problem, outcome->problem);
        if (order == 0 && sample->number == outcome->sample)
            return sample->path;
        if (order < 0 || (order == 0 && sample->number < outcome->sample))
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

/* ---- the whole ---- */

/* Never after paths: names are published, and where a run lies is nobody's business. */
static pkb_code name_set(pkb_runset *runset, pkb_error *err)
{
    const char *runs[NAMED_RUNS + 1];
    const size_t count =
        pkb_runset_values(runset, PKB_CONDITION_RUN, runs, NULL, sizeof runs / sizeof runs[0]);
    pkb_buf name = {0};

    for (size_t i = 0; i < count && i < NAMED_RUNS; i++) {
        pkb_buf_append_string(&name, i > 0 ? " + " : "");
        pkb_clean_append(&name, runs[i], strlen(runs[i]), SIZE_MAX);
    }
    if (count > NAMED_RUNS)
        pkb_buf_append_string(&name, " + others");
    pkb_code rc = pkb_buf_check(&name, "the name of the run", err);
    if (rc == PKB_OK)
        runset->name = pkb_buf_take(&name);
    pkb_buf_clear(&name);
    return rc;
}

static pkb_code complain_of_none(const pkb_runset *runset, const char *path, pkb_error *err)
{
    pkb_buf others = {0};

    pkb_runset_list_others(&others, runset);
    pkb_error_set(err, PKB_ERR_USAGE, 0, "%s holds no record that counts%s%s%s%s%s", path,
                  runset->debug_count > 0 ? " (those of --debug do not)" : "",
                  others.bytes > 0 ? "; there are others than the options ask for: " : "",
                  pkb_buf_text(&others), runset->note_count > 0 ? "; " : "",
                  runset->note_count > 0 ? runset->notes[0] : "");
    pkb_buf_clear(&others);
    return PKB_ERR_USAGE;
}

static pkb_code note_debug(pkb_runset *runset, pkb_error *err)
{
    if (runset->debug_count == 0)
        return PKB_OK;
    return pkb_runset_note(runset, err, "%zu record%s made with --debug: no score",
                           runset->debug_count, runset->debug_count == 1 ? " was" : "s were");
}

pkb_code pkb_runset_read(pkb_runset *out, const char *const *paths, size_t path_count,
                         const pkb_runset_options *options, const pkb_catalogue *catalogue,
                         pkb_error *err)
{
    pkb_code rc = PKB_OK;

    *out = (pkb_runset){0};
    if (options->problems != NULL)
        rc = pkb_runset_select(out, options->problems, catalogue, err);
    for (size_t i = 0; i < path_count && rc == PKB_OK; i++)
        rc = pkb_runset_read_path(out, paths[i], options, err);
    if (rc == PKB_OK && out->count == 0)
        rc = complain_of_none(out, paths[0], err);
    if (rc == PKB_OK)
        rc = settle(out, err);
    if (rc == PKB_OK)
        rc = check_conditions(out, options, err);
    if (rc == PKB_OK)
        rc = check_sizes(out, options, err);
    if (rc == PKB_OK)
        rc = check_definitions(out, options, err);
    if (rc == PKB_OK)
        rc = pkb_runset_plan(out, options, catalogue, err);
    if (rc == PKB_OK)
        rc = note_debug(out, err);
    if (rc == PKB_OK)
        rc = name_set(out, err);
    return rc;
}

void pkb_runset_clear(pkb_runset *runset)
{
    for (size_t i = 0; i < runset->file_count; i++)
        free(runset->files[i].path);
    for (size_t i = 0; i < runset->folder_count; i++) {
        pkb_samples_clear(&runset->folders[i].sources);
        free(runset->folders[i].path);
    }
    for (size_t i = 0; i < runset->note_count; i++)
        free(runset->notes[i]);
    free(runset->name);
    free(runset->files);
    free(runset->folders);
    free(runset->kinds);
    free(runset->outcomes);
    free(runset->problems);
    free(runset->notes);
    pkb_names_clear(&runset->names);
    *runset = (pkb_runset){0};
}
