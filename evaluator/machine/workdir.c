/* SPDX-License-Identifier: Apache-2.0
 *
 * Makes, sweeps and removes work directories; see workdir.h. Who makes or sweeps one holds the
 * lock of the folder above, so a directory without a lock of its own is never seen half made.
 */
#include "evaluator/machine/workdir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fs.h"
#include "base/hash.h"
#include "harness/sandbox/stray.h"

static const char lock_name[] = "lock", process_name[] = "processes";

/* Longest socket name below it: "/meet.sock"; 108 bytes in all. */
enum { PATH_LIMIT_BYTES = 90, ID_BYTES = 4 };

static char *base_folder(void)
{
    static const char *const names[] = {"PKBENCH_TMPDIR", "XDG_RUNTIME_DIR"};
    const char *base = "/tmp";
    pkb_buf path = {0};

    for (size_t i = sizeof names / sizeof names[0]; i-- > 0;) {
        const char *value = getenv(names[i]);
        if (value != NULL && value[0] == '/' && (i == 0 || pkb_fs_exists(value)))
            base = value;
    }
    pkb_buf_printf(&path, "%s/pkbench-%u", base, (unsigned)getuid());
    return pkb_buf_take(&path);
}

/* The folder is in a place where others can write: it must be ours alone. */
static pkb_code make_base(const char *base, pkb_error *err)
{
    struct stat status;
    pkb_code rc = pkb_fs_make_directory(base, 0700, err);
    if (rc != PKB_OK)
        return rc;
    if (lstat(base, &status) != 0)
        return pkb_error_set_errno(err, PKB_ERR_IO, "cannot look at %s", base);
    if (!S_ISDIR(status.st_mode) || status.st_uid != geteuid() || (status.st_mode & 077) != 0)
        return pkb_error_set(err, PKB_ERR_IO, 0,
                             "%s is not a directory of ours alone (mode 0700); remove it or set "
                             "PKBENCH_TMPDIR",
                             base);
    return PKB_OK;
}

static pkb_code lock_file(int *out, const char *path, int flags, int operation, pkb_error *err)
{
    int fd = open(path, flags | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return pkb_error_set_errno(err, PKB_ERR_IO, "cannot open the lock %s", path);
    while (flock(fd, operation) != 0) {
        if (errno == EINTR)
            continue;
        pkb_code rc = pkb_error_set_errno(err, PKB_ERR_IO, "cannot lock %s", path);
        close(fd);
        return rc;
    }
    *out = fd;
    return PKB_OK;
}

/* Clock ticks after boot at which a process started: with its pid, its identity. 0 = no such. */
static unsigned long long start_time(pid_t pid)
{
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return 0;
    size_t count = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[count] = '\0';

    /* The name in parentheses may hold anything; start time is field 22, the name field 2. */
    const char *at = strrchr(text, ')');
    for (int field = 2; at != NULL && field < 22; field++)
        at = strchr(at + 1, ' ');
    return at != NULL ? strtoull(at + 1, NULL, 10) : 0;
}

static void end_noted(const char *folder)
{
    char *path = pkb_fs_join(folder, process_name);
    FILE *file = path != NULL ? fopen(path, "re") : NULL;
    int pid;
    unsigned long long started;

    while (file != NULL && fscanf(file, "%d %llu", &pid, &started) == 2)
        if (pid > 1 && started != 0 && start_time(pid) == started && kill(-pid, SIGKILL) != 0)
            kill(pid, SIGKILL);
    if (file != NULL)
        fclose(file);
    free(path);
}

static void sweep_one(const char *folder)
{
    int fd = -1;
    char *path = pkb_fs_join(folder, lock_name);
    if (path != NULL && lock_file(&fd, path, O_RDWR | O_CREAT, LOCK_EX | LOCK_NB, NULL) == PKB_OK) {
        end_noted(folder);
        pkb_stray_end(folder);
        pkb_fs_remove_tree(folder, NULL);
        close(fd);
    }
    free(path);
}

static void sweep(const char *base)
{
    DIR *directory = opendir(base);
    if (directory == NULL)
        return;
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        char *folder = entry->d_name[0] == '.' ? NULL : pkb_fs_join(base, entry->d_name);
        if (folder != NULL)
            sweep_one(folder);
        free(folder);
    }
    closedir(directory);
}

static pkb_code make_own(pkb_workdir *made, const char *base, pkb_error *err)
{
    unsigned char random[ID_BYTES];
    pkb_code rc = pkb_random_bytes(random, sizeof random, err);
    if (rc != PKB_OK)
        return rc;
    for (size_t i = 0; i < sizeof random; i++)
        snprintf(made->id + 2 * i, 3, "%02x", random[i]);
    made->path = pkb_fs_join(base, made->id);
    if (made->path == NULL)
        return pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for the work directory");
    if (strlen(made->path) > PATH_LIMIT_BYTES)
        return pkb_error_set(err, PKB_ERR_USAGE, 0,
                             "the path %s is too long for sockets; set PKBENCH_TMPDIR to a shorter "
                             "one",
                             made->path);
    if (mkdir(made->path, 0700) != 0)
        return pkb_error_set_errno(err, PKB_ERR_IO, "cannot make the work directory %s",
                                   made->path);
    char *lock = pkb_workdir_path(made, lock_name);
    if (lock == NULL)
        return pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for the work directory");
    rc = lock_file(&made->lock_fd, lock, O_RDWR | O_CREAT, LOCK_EX | LOCK_NB, err);
    free(lock);
    return rc;
}

pkb_code pkb_workdir_open(pkb_workdir *out, pkb_error *err)
{
    pkb_code rc = PKB_OK;
    pkb_workdir made = PKB_WORKDIR_NONE;
    char *base = base_folder();
    int gate_fd = -1;

    if (base == NULL) {
        rc = pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for the work directory");
        goto cleanup;
    }
    if ((rc = make_base(base, err)) != PKB_OK ||
        (rc = lock_file(&gate_fd, base, O_RDONLY | O_DIRECTORY, LOCK_EX, err)) != PKB_OK)
        goto cleanup;
    sweep(base);
    rc = make_own(&made, base, err);
    if (rc != PKB_OK)
        goto cleanup;
    *out = made;
    made = (pkb_workdir)PKB_WORKDIR_NONE;
cleanup:
    pkb_workdir_close(&made);
    if (gate_fd >= 0)
        close(gate_fd);
    free(base);
    return rc;
}

void pkb_workdir_close(pkb_workdir *workdir)
{
    if (workdir->path != NULL && workdir->lock_fd >= 0) {
        pkb_stray_end(workdir->path); /* all that we started and know of has ended */
        pkb_fs_remove_tree(workdir->path, NULL);
    }
    if (workdir->lock_fd >= 0)
        close(workdir->lock_fd);
    free(workdir->path);
    *workdir = (pkb_workdir)PKB_WORKDIR_NONE;
}

pkb_code pkb_workdir_note(const pkb_workdir *workdir, pid_t pid, pkb_error *err)
{
    char *path = pkb_workdir_path(workdir, process_name);
    FILE *file = path != NULL ? fopen(path, "ae") : NULL;
    pkb_code rc = PKB_OK;

    if (file == NULL || fprintf(file, "%d %llu\n", (int)pid, start_time(pid)) < 0)
        rc = pkb_error_set_errno(err, PKB_ERR_IO, "cannot note a process in %s", workdir->path);
    if (file != NULL && fclose(file) != 0)
        rc = pkb_error_set_errno(err, PKB_ERR_IO, "cannot note a process in %s", workdir->path);
    free(path);
    return rc;
}

char *pkb_workdir_path(const pkb_workdir *workdir, const char *name)
{
    return pkb_fs_join(workdir->path, name);
}
