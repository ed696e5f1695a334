/* SPDX-License-Identifier: Apache-2.0
 *
 * Looks at names in a folder; see entry.h.
 */
#include "evaluator/attempt/entry.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool is_below(const char *root, const char *path)
{
    const size_t bytes = strcmp(root, "/") == 0 ? 0 : strlen(root);
    return strncmp(path, root, bytes) == 0 && (path[bytes] == '/' || path[bytes] == '\0');
}

pkb_entry pkb_entry_look(const char *root, const char *path)
{
    struct stat status;
    char real[PATH_MAX];

    if (lstat(path, &status) != 0)
        return PKB_ENTRY_NOWHERE;
    if (S_ISLNK(status.st_mode)) {
        if (realpath(path, real) == NULL || stat(real, &status) != 0)
            return PKB_ENTRY_NOWHERE;
        if (!is_below(root, real))
            return PKB_ENTRY_OUTSIDE;
    }
    if (S_ISDIR(status.st_mode))
        return PKB_ENTRY_FOLDER;
    return S_ISREG(status.st_mode) ? PKB_ENTRY_FILE : PKB_ENTRY_SPECIAL;
}

const char *pkb_entry_text(pkb_entry entry)
{
    switch (entry) {
    case PKB_ENTRY_FILE:
        return "is a file";
    case PKB_ENTRY_FOLDER:
        return "is a directory";
    case PKB_ENTRY_OUTSIDE:
        return "is a symbolic link that leads out of the folder";
    case PKB_ENTRY_NOWHERE:
        return "is a symbolic link that leads nowhere";
    case PKB_ENTRY_SPECIAL:
        return "is a pipe, a socket or a device";
    }
    return "is unknown";
}

pkb_code pkb_entry_require_inside(const char *folder, const char *path, pkb_error *err)
{
    char root[PATH_MAX];
    struct stat status;

    if (lstat(path, &status) != 0 || !S_ISLNK(status.st_mode))
        return PKB_OK;
    if (realpath(folder, root) == NULL)
        return pkb_error_set_errno(err, PKB_ERR_USAGE, "cannot find the folder %s", folder);
    const pkb_entry entry = pkb_entry_look(root, path);
    if (entry != PKB_ENTRY_OUTSIDE && entry != PKB_ENTRY_NOWHERE)
        return PKB_OK;
    return pkb_error_set(err, PKB_ERR_USAGE, 0,
                         "%s %s, and nothing is written through it; remove the link", path,
                         pkb_entry_text(entry));
}
