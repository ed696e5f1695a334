/* SPDX-License-Identifier: Apache-2.0
 *
 * Whole files and paths; see fs.h.
 */
#include "base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <libgen.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static pkb_code check_regular(const char *path, int fd, size_t limit_bytes, size_t *bytes,
                              pkb_error *err)
{
    struct stat info;
    if (fstat(fd, &info) != 0)
        return pkb_error_set_errno(err, PKB_ERR_IO, "cannot look at %s", path);
    if (S_ISDIR(info.st_mode))
        return pkb_error_set(err, PKB_ERR_USAGE, 0, "%s is a directory, not a file", path);
    if (!S_ISREG(info.st_mode))
        return pkb_error_set(err, PKB_ERR_USAGE, 0, "%s is not a regular file", path);
    if ((uintmax_t)info.st_size > limit_bytes)
        return pkb_error_set(err, PKB_ERR_USAGE, 0, "%s has %jd bytes; the limit is %zu", path,
                             (intmax_t)info.st_size, limit_bytes);
    *bytes = (size_t)info.st_size;
    return PKB_OK;
}

static pkb_code read_all(const char *path, int fd, char *out, size_t bytes, size_t *got,
                         pkb_error *err)
{
    size_t done = 0;
    while (done < bytes) {
        ssize_t count = read(fd, out + done, bytes - done);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return pkb_error_set_errno(err, PKB_ERR_IO, "cannot read %s", path);
        if (count == 0)
            break;
        done += (size_t)count;
    }
    *got = done;
    return PKB_OK;
}

pkb_code pkb_fs_read(const char *path, size_t limit_bytes, char **text, size_t *bytes,
                     pkb_error *err)
{
    pkb_code rc = PKB_OK;
    char *content = NULL;
    size_t size = 0, got = 0;

    /* O_NONBLOCK: opening a pipe must fail the check below instead of waiting for a writer. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return pkb_error_set_errno(err, PKB_ERR_USAGE, "cannot open %s", path);

    rc = check_regular(path, fd, limit_bytes, &size, err);
    if (rc != PKB_OK)
        goto cleanup;
    content = malloc(size + 1);
    if (content == NULL) {
        rc = pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for the %zu bytes of %s", size, path);
        goto cleanup;
    }
    rc = read_all(path, fd, content, size, &got, err);
    if (rc != PKB_OK)
        goto cleanup;
    content[got] = '\0';
    *text = content;
    content = NULL;
    *bytes = got;
cleanup:
    free(content);
    close(fd);
    return rc;
}

static int write_all(int fd, const void *data, size_t bytes)
{
    const char *from = data;
    while (bytes > 0) {
        ssize_t count = write(fd, from, bytes);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return -1;
        from += count;
        bytes -= (size_t)count;
    }
    return 0;
}

/* A new name must survive a power cut as well as the content does. */
static void sync_directory_of(const char *path)
{
    char copy[PATH_MAX];
    snprintf(copy, sizeof copy, "%s", path);
    int fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        (void)fsync(fd);
        close(fd);
    }
}

pkb_code pkb_fs_stage_open(pkb_fs_stage *out, const char *path, pkb_error *err)
{
    static const char suffix[] = ".XXXXXX";
    pkb_fs_stage stage = PKB_FS_STAGE_NONE;
    pkb_code rc = PKB_OK;

    stage.path = strdup(path);
    stage.temporary = malloc(strlen(path) + sizeof suffix);
    if (stage.path == NULL || stage.temporary == NULL) {
        rc = pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for a path");
        goto cleanup;
    }
    strcpy(stage.temporary, path);
    strcat(stage.temporary, suffix);
    stage.fd = mkostemp(stage.temporary, O_CLOEXEC);
    if (stage.fd < 0) {
        rc = pkb_error_set_errno(err, PKB_ERR_DISK, "cannot write beside %s", path);
        goto cleanup;
    }
    *out = stage;
    return PKB_OK;
cleanup:
    free(stage.path);
    free(stage.temporary);
    return rc;
}

static pkb_code commit(pkb_fs_stage *stage, bool is_synced, pkb_error *err)
{
    if (fchmod(stage->fd, 0644) != 0 || (is_synced && fsync(stage->fd) != 0))
        return pkb_error_set_errno(err, PKB_ERR_DISK, "cannot write %s", stage->path);
    if (rename(stage->temporary, stage->path) != 0)
        return pkb_error_set_errno(err, PKB_ERR_DISK, "cannot replace %s", stage->path);
    free(stage->temporary);
    stage->temporary = NULL;
    if (is_synced)
        sync_directory_of(stage->path);
    return PKB_OK;
}

pkb_code pkb_fs_stage_commit(pkb_fs_stage *stage, pkb_error *err)
{
    return commit(stage, true, err);
}

void pkb_fs_stage_clear(pkb_fs_stage *stage)
{
    if (stage->fd < 0)
        return;
    if (stage->temporary != NULL)
        unlink(stage->temporary);
    close(stage->fd);
    free(stage->path);
    free(stage->temporary);
    *stage = (pkb_fs_stage)PKB_FS_STAGE_NONE;
}

static pkb_code put(const char *path, const void *data, size_t bytes, bool is_synced,
                    pkb_error *err)
{
    pkb_fs_stage stage = PKB_FS_STAGE_NONE;
    pkb_code rc = pkb_fs_stage_open(&stage, path, err);

    if (rc == PKB_OK && write_all(stage.fd, data, bytes) != 0)
        rc = pkb_error_set_errno(err, PKB_ERR_DISK, "cannot write %s", path);
    if (rc == PKB_OK)
        rc = commit(&stage, is_synced, err);
    pkb_fs_stage_clear(&stage);
    return rc;
}

pkb_code pkb_fs_replace(const char *path, const void *data, size_t bytes, pkb_error *err)
{
    return put(path, data, bytes, true, err);
}

pkb_code pkb_fs_write(const char *path, const void *data, size_t bytes, pkb_error *err)
{
    return put(path, data, bytes, false, err);
}

pkb_code pkb_fs_append_fd(int fd, const char *path, const void *data, size_t bytes, pkb_error *err)
{
    pkb_code rc = PKB_OK;
    struct stat before;

    if (fstat(fd, &before) != 0)
        return pkb_error_set_errno(err, PKB_ERR_DISK, "cannot look at %s", path);
    if (write_all(fd, data, bytes) != 0 || fsync(fd) != 0) {
        rc = pkb_error_set_errno(err, PKB_ERR_DISK, "cannot append to %s", path);
        /* Half a record is worse than none: readers would stop there. */
        if (S_ISREG(before.st_mode))
            (void)!ftruncate(fd, before.st_size);
    }
    return rc;
}

pkb_code pkb_fs_append(const char *path, const void *data, size_t bytes, pkb_error *err)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (fd < 0)
        return pkb_error_set_errno(err, PKB_ERR_DISK, "cannot open %s for appending", path);
    pkb_code rc = pkb_fs_append_fd(fd, path, data, bytes, err);
    close(fd);
    return rc;
}

pkb_code pkb_fs_make_directory(const char *path, unsigned mode, pkb_error *err)
{
    char partial[PATH_MAX];
    int length = snprintf(partial, sizeof partial, "%s", path);
    if (length <= 0 || (size_t)length >= sizeof partial)
        return pkb_error_set(err, PKB_ERR_USAGE, 0, "bad directory name: %.200s", path);

    for (char *slash = strchr(partial + 1, '/');; slash = strchr(slash + 1, '/')) {
        if (slash != NULL)
            *slash = '\0';
        if (mkdir(partial, (mode_t)mode) != 0 && errno != EEXIST)
            return pkb_error_set_errno(err, PKB_ERR_IO, "cannot make the directory %s", partial);
        if (slash == NULL)
            break;
        *slash = '/';
    }

    struct stat info;
    if (stat(path, &info) != 0 || !S_ISDIR(info.st_mode))
        return pkb_error_set(err, PKB_ERR_IO, 0, "%s exists but is not a directory", path);
    return PKB_OK;
}

static int remove_entry(const char *path, const struct stat *info, int type, struct FTW *walk)
{
    (void)info;
    (void)type;
    (void)walk;
    return remove(path) == 0 || errno == ENOENT ? 0 : -1;
}

pkb_code pkb_fs_remove_tree(const char *path, pkb_error *err)
{
    enum { OPEN_DIRECTORIES = 32 };
    if (nftw(path, remove_entry, OPEN_DIRECTORIES, FTW_DEPTH | FTW_PHYS | FTW_MOUNT) != 0 &&
        errno != ENOENT)
        return pkb_error_set_errno(err, PKB_ERR_IO, "cannot remove %s", path);
    return PKB_OK;
}

bool pkb_fs_exists(const char *path)
{
    return access(path, F_OK) == 0;
}

char *pkb_fs_join(const char *directory, const char *name)
{
    char *joined = NULL;
    return asprintf(&joined, "%s/%s", directory, name) < 0 ? NULL : joined;
}

char *pkb_fs_find_program(const char *name)
{
    const char *path = getenv("PATH");
    if (path == NULL || *name == '\0')
        return NULL;

    for (const char *start = path;;) {
        const char *end = strchrnul(start, ':');
        char *candidate = NULL;
        if (asprintf(&candidate, "%.*s/%s", (int)(end - start), start, name) < 0)
            return NULL;
        struct stat info;
        if (end > start && stat(candidate, &info) == 0 && S_ISREG(info.st_mode) &&
            access(candidate, X_OK) == 0)
            return candidate;
        free(candidate);
        if (*end == '\0')
            return NULL;
        start = end + 1;
    }
}

pkb_code pkb_fs_root(char **out, pkb_error *err)
{
    char program[PATH_MAX];
    const char *chosen = getenv("PKBENCH_ROOT");
    char *root = NULL;

    if (chosen == NULL) {
        ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
        if (length < 0)
            return pkb_error_set_errno(err, PKB_ERR_IO, "cannot read /proc/self/exe");
        program[length] = '\0';
        char *folder = dirname(program); /* build/ */
        chosen = dirname(folder);
    }
    root = realpath(chosen, NULL);
    if (root == NULL)
        return pkb_error_set_errno(err, PKB_ERR_USAGE, "no project at %s (PKBENCH_ROOT)", chosen);
    char *problems = pkb_fs_join(root, "problems");
    bool found = problems != NULL && pkb_fs_exists(problems);
    free(problems);
    if (!found) {
        pkb_code rc = pkb_error_set(err, PKB_ERR_USAGE, 0,
                                    "no problems/ in %s; set PKBENCH_ROOT to the project", root);
        free(root);
        return rc;
    }
    *out = root;
    return PKB_OK;
}
