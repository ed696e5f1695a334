/* SPDX-License-Identifier: Apache-2.0
 *
 * Keeps files; see keep.h.
 */
#include "evaluator/attempt/keep.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"

enum { FILE_LIMIT_BYTES = 256 << 20 };

static bool is_empty(const char *folder)
{
    DIR *directory = opendir(folder);
    bool is_empty = true;

    if (directory == NULL)
        return true; /* writing says why */
    for (const struct dirent *entry; is_empty && (entry = readdir(directory)) != NULL;)
        is_empty = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
    closedir(directory);
    return is_empty;
}

pkb_code pkb_keep_open(const char *folder, pkb_error *err)
{
    if (pkb_fs_make_directory(folder, 0755, err) != PKB_OK)
        return PKB_ERR_DISK;
    if (!is_empty(folder))
        return pkb_error_set(err, PKB_ERR_USAGE, 0,
                             "%s is not empty, and files of two attempts would mix there; name "
                             "a new folder with --keep, or empty this one",
                             folder);
    return PKB_OK;
}

pkb_code pkb_keep_text(const char *folder, const char *name, const char *text, size_t bytes,
                       pkb_error *err)
{
    char *path = pkb_fs_join(folder, name);
    if (path == NULL)
        return pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for a path in %s", folder);
    pkb_code rc = pkb_fs_replace(path, text, bytes, err);
    free(path);
    return rc;
}

pkb_code pkb_keep_file(const char *folder, const char *path, pkb_error *err)
{
    const char *slash = strrchr(path, '/');
    char *content = NULL;
    size_t bytes = 0;

    if (!pkb_fs_exists(path))
        return PKB_OK;
    pkb_code rc = pkb_fs_read(path, FILE_LIMIT_BYTES, &content, &bytes, err);
    if (rc == PKB_OK)
        rc = pkb_keep_text(folder, slash != NULL ? slash + 1 : path, content, bytes, err);
    free(content);
    return rc;
}
