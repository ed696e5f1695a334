/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds attempts; see samples.h.
 */
#include "evaluator/attempt/samples.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/fs.h"
#include "evaluator/attempt/entry.h"

enum { DIGITS = 3, NUMBER_DIGITS = 9, SHOWN_LEFT = 3 };

static const char no_name[] = "names no problem or sample";

static const char suffix[] = ".cu";

/* The entries of a folder in the order of their names, numbers in them as numbers. */
typedef struct listing {
    struct dirent **entries;
    int count;
} listing;

static int is_shown(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static pkb_code list(listing *out, const char *folder, pkb_error *err)
{
    out->count = scandir(folder, &out->entries, is_shown, versionsort);
    if (out->count >= 0)
        return PKB_OK;
    out->count = 0;
    return pkb_error_set_errno(err, PKB_ERR_USAGE, "cannot read the folder %s", folder);
}

static void clear(listing *list)
{
    for (int i = 0; i < list->count; i++)
        free(list->entries[i]);
    free(list->entries);
}

static bool is_source(const char *name)
{
    const size_t length = strlen(name), end = sizeof suffix - 1;
    return length > end && strcmp(name + length - end, suffix) == 0;
}

/* "013_x.cu", "013", but not "0131_x.cu". NULL = no problem has that number. */
static const char *problem_of(const char *name, const pkb_catalogue *catalogue)
{
    char number[DIGITS + 1] = "";
    const char *problem = NULL;

    if (strspn(name, "0123456789") != DIGITS || isalpha((unsigned char)name[DIGITS]))
        return NULL;
    memcpy(number, name, DIGITS);
    return pkb_catalogue_find(catalogue, number, &problem, NULL) == PKB_OK ? problem : NULL;
}

/* k of "12.cu"; below 0: no such name. */
static int64_t sample_number(const char *name)
{
    const size_t digits = strspn(name, "0123456789");
    if (digits == 0 || digits > NUMBER_DIGITS || strcmp(name + digits, suffix) != 0)
        return -1;
    return strtoll(name, NULL, 10);
}

/* ---- collecting ---- */

typedef struct search {
    pkb_samples *found;
    const pkb_catalogue *catalogue;
    char root[PATH_MAX];
    pkb_error *err;
} search;

static pkb_code no_memory(pkb_error *err)
{
    return pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for the list of attempts");
}

static pkb_code grow(void **items, size_t count, size_t *capacity, size_t item_bytes,
                     pkb_error *err)
{
    if (count < *capacity)
        return PKB_OK;
    const size_t wanted = *capacity == 0 ? 64 : 2 * *capacity;
    void *larger = reallocarray(*items, wanted, item_bytes);
    if (larger == NULL)
        return no_memory(err);
    *items = larger;
    *capacity = wanted;
    return PKB_OK;
}

static pkb_code add(search *to, const char *problem, int64_t number, const char *path)
{
    pkb_samples *found = to->found;
    pkb_code rc =
        grow((void **)&found->items, found->count, &found->capacity, sizeof *found->items, to->err);
    if (rc != PKB_OK)
        return rc;
    char *copy = strdup(path);
    if (copy == NULL)
        return no_memory(to->err);
    found->items[found->count++] = (pkb_sample){.problem = problem, .number = number, .path = copy};
    return PKB_OK;
}

static pkb_code leave(search *to, const char *path, const char *problem, const char *why)
{
    pkb_samples *found = to->found;
    pkb_code rc = grow((void **)&found->left, found->left_count, &found->left_capacity,
                       sizeof *found->left, to->err);
    if (rc != PKB_OK)
        return rc;
    char *copy = strdup(path);
    if (copy == NULL)
        return no_memory(to->err);
    found->left[found->left_count++] = (pkb_left){.problem = problem, .path = copy, .why = why};
    return PKB_OK;
}

/* Remembers the first name that says another problem than its number does. */
static void compare_name(pkb_samples *found, const char *name, const char *problem,
                         const char *path)
{
    const size_t length = is_source(name) ? strlen(name) - (sizeof suffix - 1) : strlen(name);
    const bool is_plain = length == DIGITS;
    const bool is_same = length == strlen(problem) && strncmp(name, problem, length) == 0;

    if (is_plain || is_same || found->renamed != NULL)
        return;
    found->renamed = strdup(path);
    found->renamed_problem = problem;
}

/* ---- walking ---- */

/* How the files of a problem's folder are numbered. */
typedef enum numbering { BY_NAME, BY_ORDER } numbering;

static pkb_code walk_source(search *to, const char *path, const char *problem, int64_t number)
{
    const pkb_entry entry = pkb_entry_look(to->root, path);

    if (entry != PKB_ENTRY_FILE)
        return leave(to, path, problem, pkb_entry_text(entry));
    return number < 0 ? leave(to, path, NULL, no_name) : add(to, problem, number, path);
}

static pkb_code walk_problem(search *to, const char *folder, const char *problem, numbering how)
{
    listing files = {0};
    int64_t next = 0;
    pkb_code rc = list(&files, folder, to->err);

    for (int i = 0; i < files.count && rc == PKB_OK; i++) {
        const char *name = files.entries[i]->d_name;
        if (!is_source(name))
            continue;
        char *path = pkb_fs_join(folder, name);
        rc = path == NULL
                 ? no_memory(to->err)
                 : walk_source(to, path, problem, how == BY_ORDER ? next++ : sample_number(name));
        free(path);
    }
    clear(&files);
    return rc;
}

static bool holds_sources(const char *folder)
{
    listing files = {0};
    bool holds = false;

    if (list(&files, folder, NULL) == PKB_OK)
        for (int i = 0; i < files.count; i++)
            holds |= is_source(files.entries[i]->d_name);
    clear(&files);
    return holds;
}

static pkb_code walk(search *to, const char *folder, bool is_samples);

/* A link or something strange under a name that would have been looked at. */
static pkb_code leave_entry(search *to, const char *path, const char *name, const char *problem,
                            pkb_entry entry)
{
    const bool is_meant = problem != NULL || is_source(name) || strcmp(name, "samples") == 0;
    return is_meant ? leave(to, path, problem, pkb_entry_text(entry)) : PKB_OK;
}

static pkb_code walk_entry(search *to, const char *path, const char *name, bool is_samples)
{
    const char *problem = problem_of(name, to->catalogue);
    const pkb_entry entry = pkb_entry_look(to->root, path);
    const bool is_file = entry == PKB_ENTRY_FILE;

    if (!is_file && entry != PKB_ENTRY_FOLDER)
        return leave_entry(to, path, name, problem, entry);
    if (!is_file && !is_samples && strcmp(name, "samples") == 0)
        return walk(to, path, true);
    if (is_file && !is_source(name))
        return PKB_OK;
    if (problem == NULL || (is_file && is_samples))
        return is_file || holds_sources(path) ? leave(to, path, NULL, no_name) : PKB_OK;
    compare_name(to->found, name, problem, path);
    if (is_file)
        return add(to, problem, 0, path);
    return walk_problem(to, path, problem, is_samples ? BY_NAME : BY_ORDER);
}

static pkb_code walk(search *to, const char *folder, bool is_samples)
{
    listing entries = {0};
    pkb_code rc = list(&entries, folder, to->err);

    for (int i = 0; i < entries.count && rc == PKB_OK; i++) {
        char *path = pkb_fs_join(folder, entries.entries[i]->d_name);
        rc = path == NULL ? no_memory(to->err)
                          : walk_entry(to, path, entries.entries[i]->d_name, is_samples);
        free(path);
    }
    clear(&entries);
    return rc;
}

/* ---- what was found ---- */

static int compare(const void *a, const void *b)
{
    const pkb_sample *first = a, *second = b;
    const int by_problem = strcmp(first->problem, second->problem);

    if (by_problem != 0)
        return by_problem;
    if (first->number != second->number)
        return first->number < second->number ? -1 : 1;
    return strcmp(first->path, second->path);
}

static pkb_code check_doubles(const pkb_samples *samples, pkb_error *err)
{
    for (size_t i = 1; i < samples->count; i++) {
        const pkb_sample *a = &samples->items[i - 1], *b = &samples->items[i];
        if (strcmp(a->problem, b->problem) == 0 && a->number == b->number)
            return pkb_error_set(err, PKB_ERR_USAGE, 0,
                                 "%s and %s are both sample %lld of %s; remove or rename one",
                                 a->path, b->path, (long long)a->number, a->problem);
    }
    return PKB_OK;
}

static pkb_code complain_of_none(const pkb_samples *samples, const char *folder, pkb_error *err)
{
    pkb_buf names = {0};

    for (size_t i = 0; i < samples->left_count && i < SHOWN_LEFT; i++)
        pkb_buf_printf(&names, "%s%.100s %s", i > 0 ? ", " : "; ", samples->left[i].path,
                       samples->left[i].why);
    if (samples->left_count > SHOWN_LEFT)
        pkb_buf_printf(&names, ", and %zu more", samples->left_count - SHOWN_LEFT);
    pkb_error_set(err, PKB_ERR_USAGE, 0,
                  "%s holds no attempts: they are named samples/013_x/0.cu, 013_x.cu or "
                  "013_x/any.cu (pkbench problems lists the numbers)%s",
                  folder, pkb_buf_text(&names));
    pkb_buf_clear(&names);
    return PKB_ERR_USAGE;
}

pkb_code pkb_samples_find(pkb_samples *out, const char *folder, const pkb_catalogue *catalogue,
                          pkb_error *err)
{
    search to = {.found = out, .catalogue = catalogue, .err = err};

    *out = (pkb_samples){0};
    if (realpath(folder, to.root) == NULL)
        return pkb_error_set_errno(err, PKB_ERR_USAGE, "cannot find the folder %s", folder);
    pkb_code rc = walk(&to, folder, false);
    if (rc != PKB_OK)
        return rc;
    if (out->count == 0)
        return complain_of_none(out, folder, err);
    qsort(out->items, out->count, sizeof *out->items, compare);
    return check_doubles(out, err);
}

static bool is_selected(const pkb_catalogue *catalogue, const bool *is_wanted, const char *problem)
{
    size_t place = 0;
    while (catalogue->names[place] != problem)
        place++;
    return is_wanted[place];
}

void pkb_samples_select(pkb_samples *samples, const pkb_catalogue *catalogue, const bool *is_wanted)
{
    size_t kept = 0;

    for (size_t i = 0; i < samples->count; i++)
        if (is_selected(catalogue, is_wanted, samples->items[i].problem))
            samples->items[kept++] = samples->items[i];
        else
            free(samples->items[i].path);
    samples->count = kept;
    kept = 0;
    for (size_t i = 0; i < samples->left_count; i++)
        if (samples->left[i].problem == NULL ||
            is_selected(catalogue, is_wanted, samples->left[i].problem))
            samples->left[kept++] = samples->left[i];
        else
            free(samples->left[i].path);
    samples->left_count = kept;
}

void pkb_samples_clear(pkb_samples *samples)
{
    for (size_t i = 0; i < samples->count; i++)
        free(samples->items[i].path);
    for (size_t i = 0; i < samples->left_count; i++)
        free(samples->left[i].path);
    free(samples->items);
    free(samples->left);
    free(samples->renamed);
    *samples = (pkb_samples){0};
}
