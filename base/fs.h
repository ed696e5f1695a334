/* SPDX-License-Identifier: Apache-2.0
 *
 * Whole files and paths. Every message names the path.
 */
#ifndef PKB_BASE_FS_H
#define PKB_BASE_FS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* Reads a whole regular file of at most `limit_bytes`; `*text` gets a NUL after the content and is
 * freed by the caller. Refuses directories, devices and pipes. PKB_ERR_USAGE when it is missing,
 * unreadable, no regular file or too large. */
pkb_code pkb_fs_read(const char *path, size_t limit_bytes, char **text, size_t *bytes,
                     pkb_error *err);

/* Writes a temporary file beside `path`, syncs it and renames it: readers see the old or the new
 * content, never a part. PKB_ERR_DISK on failure. */
pkb_code pkb_fs_replace(const char *path, const void *data, size_t bytes, pkb_error *err);

/* The same unsynced: for files that live no longer than the process that made them. */
pkb_code pkb_fs_write(const char *path, const void *data, size_t bytes, pkb_error *err);

/* The same piece by piece: a temporary file that becomes `path` in the end, or nothing. */
typedef struct pkb_fs_stage {
    int fd;                 /* of the temporary file; -1 = none */
    char *path, *temporary; /* owned; no temporary once it has become `path` */
} pkb_fs_stage;

#define PKB_FS_STAGE_NONE \
    {                     \
        .fd = -1          \
    }

pkb_code pkb_fs_stage_open(pkb_fs_stage *out, const char *path, pkb_error *err);
/* Syncs and renames, whoever wrote the file. PKB_ERR_DISK on failure. */
pkb_code pkb_fs_stage_commit(pkb_fs_stage *stage, pkb_error *err);
/* Removes what was not committed; harmless on one that was never opened. */
void pkb_fs_stage_clear(pkb_fs_stage *stage);

/* Appends one record with a single write and syncs it. PKB_ERR_DISK on failure. */
pkb_code pkb_fs_append(const char *path, const void *data, size_t bytes, pkb_error *err);

/* The same to an open descriptor; `path` names it in messages. */
pkb_code pkb_fs_append_fd(int fd, const char *path, const void *data, size_t bytes, pkb_error *err);

/* mkdir -p with `mode` for what it makes. */
pkb_code pkb_fs_make_directory(const char *path, unsigned mode, pkb_error *err);
/* rm -rf that does not follow links or leave the file system; a missing path is no error. */
pkb_code pkb_fs_remove_tree(const char *path, pkb_error *err);

bool pkb_fs_exists(const char *path);

/* "a/b" in a new string that the caller frees; NULL when out of memory. */
char *pkb_fs_join(const char *directory, const char *name);

/* The first program of that name in $PATH; caller frees; NULL if there is none. */
char *pkb_fs_find_program(const char *name);

/* The project's root: $PKBENCH_ROOT, else what lies above the running program (its folder is
 * build/ or libexec/pkbench/). Caller frees. */
pkb_code pkb_fs_root(char **out, pkb_error *err);

#endif
