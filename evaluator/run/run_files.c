/* SPDX-License-Identifier: Apache-2.0
 *
 * Chooses the file of records and finds the others; see run_files.h.
 */
#include "evaluator/run/run_files.h"

#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/fs.h"
#include "evaluator/attempt/entry.h"
#include "evaluator/machine/machine.h"
#include "evaluator/record/record.h"
#include "evaluator/run/shard.h"

static bool is_own_example(const char *folder)
{
    char *root = NULL, *examples = NULL, *own = NULL, *asked = NULL;
    bool is_same = false;

    if (pkb_fs_root(&root, NULL) == PKB_OK)
        examples = pkb_fs_join(root, "examples");
    if (examples != NULL) {
        own = realpath(examples, NULL);
        asked = realpath(folder, NULL);
        is_same = own != NULL && asked != NULL && strcmp(own, asked) == 0;
    }
    free(root);
    free(examples);
    free(own);
    free(asked);
    return is_same;
}

/* A folder may come from anybody: what lies in it must not lead a run into another file. */
static pkb_code refuse_link(const char *path, pkb_error *err)
{
    struct stat status;

    if (lstat(path, &status) != 0 || !S_ISLNK(status.st_mode))
        return PKB_OK;
    return pkb_error_set(err, PKB_ERR_USAGE, 0,
                         "%s is a symbolic link, and records are not written through one that lies "
                         "in a run; remove it, or name a file with -o",
                         path);
}

/* ---- the own file ---- */

static const char records_suffix[] = ".jsonl";

/* "-cpu-P2": how the name of each file of such records goes on behind its host. */
static void append_class(pkb_buf *out, const pkb_eval_options *options)
{
    pkb_buf_printf(out, "-%s-P%d", options->device, options->world);
}

static pkb_code name_own(char **out, const pkb_eval_options *options, const char *results,
                         pkb_error *err)
{
    pkb_buf host = {0}, path = {0};
    pkb_shard shard;
    pkb_code rc = pkb_shard_parse(&shard, options->shard, err);

    if (rc != PKB_OK)
        return rc;
    pkb_machine_host(&host);
    pkb_buf_printf(&path, "%s/", results);
    pkb_record_plain_name(&path, pkb_buf_text(&host), host.bytes);
    append_class(&path, options);
    if (options->shard != NULL)
        pkb_buf_printf(&path, "-%dof%d", shard.index, shard.count);
    pkb_buf_append_string(&path, records_suffix);
    rc = pkb_buf_check(&path, "the results' path", err);
    if (rc == PKB_OK)
        *out = pkb_buf_take(&path);
    pkb_buf_clear(&host);
    pkb_buf_clear(&path);
    return rc;
}

static pkb_code make_folder(const char *folder, const char *results, pkb_error *err)
{
    pkb_error why = {0};
    pkb_code rc = pkb_entry_require_inside(folder, results, err);

    if (rc == PKB_OK && pkb_fs_make_directory(results, 0755, &why) != PKB_OK)
        rc = pkb_error_set(err, PKB_ERR_DISK, 0, "%s; name a file with -o, or use --no-save",
                           why.message);
    return rc;
}

/* ---- those of others ---- */

static bool ends_with(const char *text, size_t bytes, const char *end)
{
    const size_t tail = strlen(end);
    return bytes > tail && strncmp(text + bytes - tail, end, tail) == 0;
}

static bool holds_records(const char *name)
{
    return name[0] != '.' && ends_with(name, strlen(name), records_suffix);
}

/* "<host>-cpu-P2.jsonl", "<host>-cpu-P2-1of4.jsonl". */
static bool is_of_class(const char *name, const char *class)
{
    static const char digit[] = "0123456789";
    size_t bytes = strlen(name);

    if (!holds_records(name))
        return false;
    bytes -= sizeof records_suffix - 1;
    if (ends_with(name, bytes, class))
        return true;
    const char *dash = memrchr(name, '-', bytes);
    if (dash == NULL)
        return false;
    const char *of = dash + 1 + strspn(dash + 1, digit);
    if (of == dash + 1 || strncmp(of, "of", 2) != 0 || of[2] == '.')
        return false;
    return of + 2 + strspn(of + 2, digit) == name + bytes &&
           ends_with(name, (size_t)(dash - name), class);
}

static pkb_code add_other(pkb_run_files *files, char *path, pkb_error *err)
{
    char **larger = reallocarray(files->others, files->other_count + 1, sizeof *larger);
    if (path == NULL || larger == NULL) {
        free(path);
        files->others = larger != NULL ? larger : files->others;
        return pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for the names of files");
    }
    files->others = larger;
    larger[files->other_count++] = path;
    return PKB_OK;
}

static pkb_code find_others(pkb_run_files *files, const pkb_eval_options *options,
                            const char *folder, const char *results, pkb_error *err)
{
    struct dirent **entries = NULL;
    char root[PATH_MAX];
    pkb_buf class = {0};
    const int count = realpath(folder, root) == NULL
                          ? 0
                          : scandir(results, &entries, NULL, versionsort); /* none: < 0 */
    append_class(&class, options);
    pkb_code rc = pkb_buf_check(&class, "the name of a file", err);

    for (int i = 0; i < count; i++) {
        const char *name = entries[i]->d_name;
        const bool is_alike = rc == PKB_OK && is_of_class(name, pkb_buf_text(&class));
        char *path = is_alike ? pkb_fs_join(results, name) : NULL;
        files->has_other_kinds |= !is_alike && holds_records(name);
        const bool is_own = path != NULL && files->own != NULL && strcmp(path, files->own) == 0;
        if (path != NULL && !is_own && pkb_entry_look(root, path) == PKB_ENTRY_FILE)
            rc = add_other(files, path, err);
        else
            free(path);
        free(entries[i]);
    }
    free(entries);
    pkb_buf_clear(&class);
    return rc;
}

static pkb_code find_default(pkb_run_files *out, const pkb_eval_options *options,
                             const char *folder, pkb_error *err)
{
    char *results = pkb_fs_join(folder, "results");
    pkb_code rc = PKB_OK;

    if (results == NULL)
        return pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for the results' path");
    if (!options->is_dry)
        rc = make_folder(folder, results, err);
    if (rc == PKB_OK && !options->is_dry)
        rc = name_own(&out->own, options, results, err);
    if (rc == PKB_OK && out->own != NULL)
        rc = refuse_link(out->own, err);
    if (rc == PKB_OK)
        rc = find_others(out, options, folder, results, err);
    free(results);
    return rc;
}

static pkb_code name_output(pkb_run_files *out, const pkb_eval_options *options, pkb_error *err)
{
    char *path = NULL;

    if (options->is_dry && !pkb_fs_exists(options->output))
        return PKB_OK;
    path = strdup(options->output);
    if (options->is_dry)
        return add_other(out, path, err);
    out->own = path;
    return path != NULL ? PKB_OK : pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for a path");
}

pkb_code pkb_run_files_find(pkb_run_files *out, const pkb_setting *setting, const char *folder,
                            pkb_error *err)
{
    const pkb_eval_options *options = &setting->options;
    pkb_code rc = PKB_OK;

    *out = (pkb_run_files){0};
    if (options->output != NULL && !options->saves)
        return pkb_error_set(err, PKB_ERR_USAGE, 0, "-o stores records and --no-save does not");
    if (options->output != NULL)
        rc = name_output(out, options, err);
    else if (options->saves && !is_own_example(folder))
        rc = find_default(out, options, folder, err);
    if (rc != PKB_OK)
        pkb_run_files_clear(out);
    return rc;
}

void pkb_run_files_clear(pkb_run_files *files)
{
    for (size_t i = 0; i < files->other_count; i++)
        free(files->others[i]);
    free(files->others);
    free(files->own);
    *files = (pkb_run_files){0};
}
