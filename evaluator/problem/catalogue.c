/* SPDX-License-Identifier: Apache-2.0
 *
 * The folder of problems; see catalogue.h.
 */
#include "evaluator/problem/catalogue.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fs.h"
#include "evaluator/console/suggest.h"

enum { DIGITS = 3 };

static const char suffix[] = ".json";

static bool starts_with_number(const char *name)
{
    for (int i = 0; i < DIGITS; i++)
        if (!isdigit((unsigned char)name[i]))
            return false;
    return true;
}

static int is_problem_file(const struct dirent *entry)
{
    const char *name = entry->d_name;
    size_t length = strlen(name);
    return length > DIGITS + 1 + sizeof suffix - 1 && starts_with_number(name) &&
           name[DIGITS] == '_' && strcmp(name + length - (sizeof suffix - 1), suffix) == 0;
}

pkb_code pkb_catalogue_open(pkb_catalogue *out, const char *root, pkb_error *err)
{
    pkb_code rc = PKB_OK;
    pkb_catalogue made = {0};
    struct dirent **entries = NULL;
    int count = 0;

    made.directory = pkb_fs_join(root, "problems");
    if (made.directory == NULL) {
        rc = pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for the list of problems");
        goto cleanup;
    }
    count = scandir(made.directory, &entries, is_problem_file, alphasort);
    if (count < 0) {
        rc = pkb_error_set_errno(err, PKB_ERR_IO, "cannot read the problems in %s", made.directory);
        goto cleanup;
    }
    made.names = calloc((size_t)count + 1, sizeof *made.names);
    for (int i = 0; i < count && made.names != NULL; i++) {
        size_t length = strlen(entries[i]->d_name) - (sizeof suffix - 1);
        made.names[made.count] = strndup(entries[i]->d_name, length);
        if (made.names[made.count] != NULL)
            made.count++;
    }
    if (made.count != (size_t)count) {
        rc = pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for the list of problems");
        goto cleanup;
    }
    *out = made;
    made = (pkb_catalogue){0};
cleanup:
    for (int i = 0; i < count; i++)
        free(entries[i]);
    free(entries);
    pkb_catalogue_clear(&made);
    return rc;
}

void pkb_catalogue_clear(pkb_catalogue *catalogue)
{
    for (size_t i = 0; i < catalogue->count; i++)
        free(catalogue->names[i]);
    free(catalogue->names);
    free(catalogue->directory);
    *catalogue = (pkb_catalogue){0};
}

int pkb_catalogue_number(const char *name)
{
    return (int)strtol(name, NULL, 10);
}

static bool matches(const char *name, const char *word)
{
    if (word[0] != '\0' && word[strspn(word, "0123456789")] == '\0')
        return strlen(word) <= 6 && strtol(word, NULL, 10) == pkb_catalogue_number(name);
    return strcmp(name, word) == 0 || strcmp(name + DIGITS + 1, word) == 0;
}

pkb_code pkb_catalogue_find(const pkb_catalogue *catalogue, const char *word, const char **name,
                            pkb_error *err)
{
    for (size_t i = 0; i < catalogue->count; i++) {
        if (matches(catalogue->names[i], word)) {
            *name = catalogue->names[i];
            return PKB_OK;
        }
    }
    pkb_buf near = {0};
    pkb_suggest(&near, word, (const char *const *)catalogue->names, catalogue->count);
    pkb_error_set(err, PKB_ERR_USAGE, 0, "there is no problem '%s' (pkbench problems lists them)%s",
                  word, pkb_buf_text(&near));
    pkb_buf_clear(&near);
    return PKB_ERR_USAGE;
}

pkb_code pkb_catalogue_find_key(const pkb_catalogue *catalogue, const cJSON *object,
                                const char **name, pkb_error *err)
{
    const cJSON *problem = cJSON_GetObjectItemCaseSensitive(object, "problem");
    char number[32];

    if (problem == NULL)
        return pkb_error_set(err, PKB_ERR_FORMAT, 0, "the key \"problem\" is missing");
    if (cJSON_IsString(problem))
        return pkb_catalogue_find(catalogue, problem->valuestring, name, err);
    if (!cJSON_IsNumber(problem))
        return pkb_error_set(err, PKB_ERR_FORMAT, 0, "\"problem\" is no name and no number");
    snprintf(number, sizeof number, "%.15g", problem->valuedouble);
    return pkb_catalogue_find(catalogue, number, name, err);
}

/* The problem of the folder that a file lies in, as in a run: 013_gemm_allreduce/1.cu is a sample
 * of problem 13 and no attempt at problem 1. */
static bool find_folder(const pkb_catalogue *catalogue, const char *path, const char **name)
{
    char number[DIGITS + 1] = "", folder[PATH_MAX] = "", here[PATH_MAX];
    const char *slash = strrchr(path, '/');

    snprintf(folder, sizeof folder, "%.*s", slash != NULL ? (int)(slash - path) : 0, path);
    const bool is_here = folder[0] == '\0' ? slash == NULL : strcmp(folder, ".") == 0;
    const char *whole = is_here && getcwd(here, sizeof here) != NULL ? here : folder;
    const char *last = strrchr(whole, '/') != NULL ? strrchr(whole, '/') + 1 : whole;
    if (strspn(last, "0123456789") != DIGITS || isalpha((unsigned char)last[DIGITS]))
        return false;
    memcpy(number, last, DIGITS);
    return pkb_catalogue_find(catalogue, number, name, NULL) == PKB_OK;
}

pkb_code pkb_catalogue_find_file(const pkb_catalogue *catalogue, const char *path,
                                 const char **name, pkb_error *err)
{
    const char *slash = strrchr(path, '/');
    const char *file = slash != NULL ? slash + 1 : path;
    const size_t digits = strspn(file, "0123456789");
    char number[DIGITS + 1] = "";

    if (!(digits == DIGITS && file[DIGITS] == '_') && find_folder(catalogue, path, name))
        return PKB_OK;
    /* "13_good.cu" and "013_good.cu", but no word that only begins with a digit */
    if (digits == 0 || (digits < DIGITS && isalnum((unsigned char)file[digits])))
        return pkb_error_set(err, PKB_ERR_USAGE, 0,
                             "%s does not begin with a problem's number, as 013_x.cu does; say "
                             "which problem it is for with -p PROBLEM",
                             file);
    memcpy(number, file, digits < DIGITS ? digits : DIGITS);
    return pkb_catalogue_find(catalogue, number, name, err);
}
