/* SPDX-License-Identifier: Apache-2.0
 *
 * The build cache; see cache.h. An entry is a directory named by its key; its modification time is
 * when it was last used. A directory "new-*" is being written, or was left by a killed writer.
 */
#include "evaluator/compile/cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fs.h"

enum { LIMIT_BYTES = 1 << 30, STALE_S = 3600, PRUNE_INTERVAL_S = 300 };

static const char new_prefix[] = "new-", lock_name[] = ".lock";

static char *default_directory(void)
{
    const char *named = getenv("PKBENCH_CACHE");
    const char *shared = getenv("XDG_CACHE_HOME");
    const char *home = getenv("HOME");
    pkb_buf path = {0};

    if (named != NULL && named[0] != '\0')
        return strdup(named);
    if (shared != NULL && shared[0] == '/')
        pkb_buf_printf(&path, "%s/pkbench", shared);
    else
        pkb_buf_printf(&path, "%s/.cache/pkbench", home != NULL ? home : "/tmp");
    return pkb_buf_take(&path);
}

/* What lies in it is run as if we had built it, so nobody else may write there: a default below
 * /tmp may have been made by anybody. */
static pkb_code require_own(const char *directory, pkb_error *err)
{
    struct stat status;

    if (stat(directory, &status) == 0 && (status.st_uid == geteuid() || status.st_uid == 0) &&
        (status.st_mode & S_IWOTH) == 0)
        return PKB_OK;
    return pkb_error_set(err, PKB_ERR_USAGE, 0,
                         "the cache %s is not used, since others may write there; name one of your "
                         "own with PKBENCH_CACHE",
                         directory);
}

pkb_code pkb_cache_open(pkb_cache *out, pkb_error *err)
{
    char *directory = default_directory();
    if (directory == NULL)
        return pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for the cache's path");
    pkb_code rc = pkb_fs_make_directory(directory, 0700, err);
    if (rc == PKB_OK)
        rc = require_own(directory, err);
    if (rc != PKB_OK) {
        free(directory);
        return rc;
    }
    *out = (pkb_cache){
        .directory = directory, .limit_bytes = LIMIT_BYTES, .prune_interval_s = PRUNE_INTERVAL_S};
    return PKB_OK;
}

void pkb_cache_clear(pkb_cache *cache)
{
    free(cache->directory);
    *cache = (pkb_cache){0};
}

/* ---- locks: a byte of one file for each key, so that none is left behind ---- */

/* 15 hex digits are 60 bits, and an offset has 63. */
static off_t place_of(const char *key)
{
    enum { DIGITS = 15, HEX = 16 };
    char digits[DIGITS + 1];

    snprintf(digits, sizeof digits, "%s", key);
    return (off_t)strtoull(digits, NULL, HEX);
}

bool pkb_cache_lock(const pkb_cache *cache, const char *key, int *fd)
{
    struct flock lock = {
        .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = place_of(key), .l_len = 1};
    char *path = pkb_fs_join(cache->directory, lock_name);

    *fd = path != NULL ? open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600) : -1;
    free(path);
    if (*fd < 0 || fcntl(*fd, F_OFD_SETLK, &lock) == 0)
        return true;
    const bool is_held = errno == EAGAIN || errno == EACCES;
    close(*fd);
    *fd = -1;
    return !is_held;
}

/* ---- entries ---- */

static bool copy_content(int to, int from)
{
    struct stat status;
    if (fstat(from, &status) != 0)
        return false;
    for (off_t at = 0; at < status.st_size;)
        if (sendfile(to, from, &at, (size_t)(status.st_size - at)) <= 0)
            return false;
    return true;
}

/* A hard link, or a copy where the two places lie on different file systems. */
static bool copy_file(const char *from_directory, const char *to_directory, const char *name)
{
    char *from = pkb_fs_join(from_directory, name), *to = pkb_fs_join(to_directory, name);
    bool is_done = from != NULL && to != NULL && link(from, to) == 0;

    if (!is_done && from != NULL && to != NULL) {
        int source = open(from, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
        int target = source < 0 ? -1 : open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        is_done = target >= 0 && copy_content(target, source);
        if (target >= 0 && close(target) != 0)
            is_done = false;
        if (source >= 0)
            close(source);
    }
    free(from);
    free(to);
    return is_done;
}

static void remove_file(const char *directory, const char *name)
{
    char *path = pkb_fs_join(directory, name);
    if (path != NULL)
        unlink(path);
    free(path);
}

bool pkb_cache_has(const pkb_cache *cache, const char *key)
{
    char *entry = pkb_fs_join(cache->directory, key);
    const bool has = entry != NULL && utimensat(AT_FDCWD, entry, NULL, 0) == 0;
    free(entry);
    return has;
}

bool pkb_cache_fetch(const pkb_cache *cache, const char *key, const char *directory,
                     const char *const *names, size_t count)
{
    char *entry = pkb_fs_join(cache->directory, key);
    size_t done = 0;

    while (entry != NULL && done < count && copy_file(entry, directory, names[done]))
        done++;
    if (entry != NULL && done == count)
        utimensat(AT_FDCWD, entry, NULL, 0);
    else
        for (size_t i = 0; i <= done && i < count; i++)
            remove_file(directory, names[i]);
    free(entry);
    return done == count;
}

typedef struct cached {
    char *path;
    int64_t used_ns;
    size_t bytes;
} cached;

static int by_age(const void *left, const void *right)
{
    int64_t a = ((const cached *)left)->used_ns, b = ((const cached *)right)->used_ns;
    return (a > b) - (a < b);
}

static size_t folder_bytes(const char *path)
{
    size_t bytes = 0;
    DIR *directory = opendir(path);
    for (struct dirent *entry; directory != NULL && (entry = readdir(directory)) != NULL;) {
        struct stat status;
        if (fstatat(dirfd(directory), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISREG(status.st_mode))
            bytes += (size_t)status.st_size;
    }
    if (directory != NULL)
        closedir(directory);
    return bytes;
}

/* What a killed writer left an hour ago goes at once; one that is being written is left alone. */
static bool is_entry(const char *path, const char *name, const struct stat *status)
{
    if (strncmp(name, new_prefix, sizeof new_prefix - 1) != 0)
        return name[0] != '.';
    if (time(NULL) - status->st_mtim.tv_sec > STALE_S)
        pkb_fs_remove_tree(path, NULL);
    return false;
}

static cached *list_entries(const pkb_cache *cache, size_t *count)
{
    cached *entries = NULL;
    DIR *directory = opendir(cache->directory);

    *count = 0;
    for (struct dirent *entry; directory != NULL && (entry = readdir(directory)) != NULL;) {
        struct stat status;
        char *path = pkb_fs_join(cache->directory, entry->d_name);
        cached *grown = realloc(entries, (*count + 1) * sizeof *entries);
        entries = grown != NULL ? grown : entries;
        if (path == NULL || grown == NULL || entry->d_name[0] == '.' || lstat(path, &status) != 0 ||
            !S_ISDIR(status.st_mode) || !is_entry(path, entry->d_name, &status)) {
            free(path);
            continue;
        }
        int64_t used_ns = (int64_t)status.st_mtim.tv_sec * 1000000000 + status.st_mtim.tv_nsec;
        entries[(*count)++] = (cached){path, used_ns, folder_bytes(path)};
    }
    if (directory != NULL)
        closedir(directory);
    return entries;
}

static void prune(const pkb_cache *cache)
{
    size_t count, total = 0;
    cached *entries = list_entries(cache, &count);

    for (size_t i = 0; i < count; i++)
        total += entries[i].bytes;
    if (count > 0)
        qsort(entries, count, sizeof *entries, by_age);
    for (size_t i = 0; i < count; i++) {
        if (total > cache->limit_bytes && i + 1 < count) {
            pkb_fs_remove_tree(entries[i].path, NULL);
            total -= entries[i].bytes;
        }
        free(entries[i].path);
    }
    free(entries);
}

/* A full cache has tens of thousands of entries: to look at them all takes a third of the time of a
 * compilation. The mark's time is that of the last look, by whomever. */
static bool is_prune_due(const pkb_cache *cache)
{
    struct stat status;
    char *mark = pkb_fs_join(cache->directory, ".pruned");
    bool is_due = true;

    if (mark != NULL && lstat(mark, &status) == 0) {
        const int64_t age_s = (int64_t)time(NULL) - status.st_mtim.tv_sec;
        is_due = age_s < 0 || age_s >= cache->prune_interval_s;
    }
    if (mark != NULL && is_due) {
        int fd = open(mark, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (fd >= 0) {
            futimens(fd, NULL);
            close(fd);
        }
    }
    free(mark);
    return is_due;
}

pkb_code pkb_cache_store(const pkb_cache *cache, const char *key, const char *directory,
                         const char *const *names, size_t count, pkb_error *err)
{
    pkb_code rc = PKB_OK;
    pkb_buf fresh = {0};
    char *entry = pkb_fs_join(cache->directory, key);

    pkb_buf_printf(&fresh, "%s/%sXXXXXX", cache->directory, new_prefix);
    if (entry == NULL || pkb_buf_check(&fresh, "a cache entry", err) != PKB_OK) {
        rc = pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for a cache entry");
        goto cleanup;
    }
    if (mkdtemp(fresh.data) == NULL) {
        rc = pkb_error_set_errno(err, PKB_ERR_IO, "cannot write into the cache %s",
                                 cache->directory);
        goto cleanup;
    }
    for (size_t i = 0; i < count && rc == PKB_OK; i++)
        if (!copy_file(directory, fresh.data, names[i]))
            rc = pkb_error_set_errno(err, PKB_ERR_IO, "cannot copy %s into the cache %s", names[i],
                                     cache->directory);
    /* Another process may have been quicker: then its entry, which is the same, stays. */
    if (rc != PKB_OK || rename(fresh.data, entry) != 0)
        pkb_fs_remove_tree(fresh.data, NULL);
    else if (is_prune_due(cache))
        prune(cache);
cleanup:
    pkb_buf_clear(&fresh);
    free(entry);
    return rc;
}
