/* SPDX-License-Identifier: Apache-2.0
 *
 * Chooses the file of records; see run_file.h.
 */
#include "evaluator/run/run_file.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/fs.h"
#include "evaluator/machine/machine.h"
#include "evaluator/record/record.h"

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

static pkb_code default_file(char **out, const pkb_eval_options *options, const char *folder,
                             pkb_error *err)
{
    pkb_buf host = {0}, path = {0};
    pkb_error why = {0};
    char *directory = pkb_fs_join(folder, "results");

    pkb_machine_host(&host);
    pkb_buf_printf(&path, "%s/results/", folder);
    pkb_record_plain_name(&path, pkb_buf_text(&host), host.bytes);
    pkb_buf_printf(&path, "-%s-P%d.jsonl", options->device, options->world);
    pkb_buf_clear(&host);
    pkb_code rc = directory == NULL
                      ? pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for the results' path")
                      : pkb_buf_check(&path, "the results' path", err);
    if (rc == PKB_OK && pkb_fs_make_directory(directory, 0755, &why) != PKB_OK)
        rc = pkb_error_set(err, PKB_ERR_DISK, 0, "%s; name a file with -o, or use --no-save",
                           why.message);
    free(directory);
    if (rc == PKB_OK)
        rc = refuse_link(pkb_buf_text(&path), err);
    if (rc == PKB_OK)
        *out = pkb_buf_take(&path);
    pkb_buf_clear(&path);
    return rc;
}

pkb_code pkb_run_file(char **out, const pkb_setting *setting, const char *folder, pkb_error *err)
{
    const pkb_eval_options *options = &setting->options;

    *out = NULL;
    if (options->output != NULL && !options->saves)
        return pkb_error_set(err, PKB_ERR_USAGE, 0, "-o stores records and --no-save does not");
    if (options->output == NULL)
        return !options->saves || is_own_example(folder) ? PKB_OK
                                                         : default_file(out, options, folder, err);
    *out = strdup(options->output);
    return *out != NULL ? PKB_OK : pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for a path");
}
