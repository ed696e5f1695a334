/* SPDX-License-Identifier: Apache-2.0
 *
 * Landlock; see restrict.h. What it cannot do: hide which processes exist, limit the size of the
 * private folder, or (before Linux 6.12) keep signals and abstract sockets in; a cell's system call
 * filter does the last two.
 */
#include "harness/cell/restrict.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/landlock.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fs.h"

enum { FAILED_STATUS = 126, SIGNAL_BASE = 128 };

/* The kernel's headers here may be older than the kernel. */
typedef struct landlock_rules {
    uint64_t files, network, scopes;
} landlock_rules;
#define ACCESS_TRUNCATE (UINT64_C(1) << 14)
#define ACCESS_IOCTL_DEVICE (UINT64_C(1) << 15)
#define ACCESS_READ \
    (LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define ACCESS_FILE                                                                              \
    (LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE | \
     ACCESS_TRUNCATE)
#define ACCESS_ALL_V1 ((UINT64_C(1) << 13) - 1)

/* ---- rules ---- */

/* Everything this kernel can deny is denied; `rules` tells what that is. -1 with errno. */
static int make_ruleset(landlock_rules *rules)
{
    enum { REFER = 2, TRUNCATE = 3, NETWORK = 4, IOCTL = 5, SCOPES = 6 };
    const long version = syscall(SYS_landlock_create_ruleset, NULL, 0, 1);

    if (version < 1)
        return -1;
    *rules = (landlock_rules){.files = ACCESS_ALL_V1};
    if (version >= REFER)
        rules->files |= LANDLOCK_ACCESS_FS_REFER;
    if (version >= TRUNCATE)
        rules->files |= ACCESS_TRUNCATE;
    if (version >= IOCTL)
        rules->files |= ACCESS_IOCTL_DEVICE;
    if (version >= NETWORK)
        rules->network = 3; /* bind and connect, TCP */
    if (version >= SCOPES)
        rules->scopes = 3; /* abstract UNIX sockets, signals */
    size_t bytes = version >= SCOPES ? 24 : version >= NETWORK ? 16 : 8;
    return (int)syscall(SYS_landlock_create_ruleset, rules, bytes, 0);
}

/* 0, or -1 with errno. A path that does not exist here needs no rule. */
static int allow(int ruleset, const landlock_rules *rules, const char *path, uint64_t access)
{
    struct stat facts;
    struct landlock_path_beneath_attr beneath = {
        .parent_fd = open(path, O_PATH | O_CLOEXEC),
    };

    if (beneath.parent_fd < 0)
        return errno == ENOENT ? 0 : -1;
    if (fstat(beneath.parent_fd, &facts) == 0 && !S_ISDIR(facts.st_mode))
        access &= ACCESS_FILE | ACCESS_IOCTL_DEVICE; /* all that Landlock takes for a file */
    beneath.allowed_access = access & rules->files;
    long rc = syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &beneath, 0);
    close(beneath.parent_fd);
    return (int)rc;
}

static int allow_system(int ruleset, const landlock_rules *rules)
{
    static const char *const readable[] = {"/usr",
                                           "/bin",
                                           "/sbin",
                                           "/lib",
                                           "/lib32",
                                           "/lib64",
                                           "/etc/ld.so.cache",
                                           "/etc/ld.so.conf",
                                           "/etc/ld.so.conf.d",
                                           "/etc/alternatives",
                                           "/proc/self"};
    static const char *const writable[] = {"/dev/null", "/dev/zero", "/dev/full", "/dev/random",
                                           "/dev/urandom"};
    int rc = 0;

    for (size_t i = 0; i < sizeof readable / sizeof readable[0] && rc == 0; i++)
        rc = allow(ruleset, rules, readable[i], ACCESS_READ);
    for (size_t i = 0; i < sizeof writable / sizeof writable[0] && rc == 0; i++)
        rc = allow(ruleset, rules, writable[i], ACCESS_FILE);
    return rc;
}

typedef struct restriction {
    char **paths; /* pairs: "-r" or "-w", path */
    int path_count;
    const char *directory; /* NULL or /tmp = the private folder */
    char **command;
    char folder[64]; /* private */
} restriction;

/* There is no user namespace around us: root must not stay root across the exec. */
static void drop_capabilities(void)
{
    for (int capability = 0; prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) == 0; capability++)
        ;
}

static int restrict_self(const restriction *wanted)
{
    const uint64_t all = UINT64_MAX;
    landlock_rules rules;

    drop_capabilities();
    int ruleset = make_ruleset(&rules);
    int rc = ruleset < 0 ? -1 : allow_system(ruleset, &rules);

    for (int i = 0; i + 1 < wanted->path_count && rc == 0; i += 2)
        rc = allow(ruleset, &rules, wanted->paths[i + 1],
                   strcmp(wanted->paths[i], "-w") == 0 ? all : (uint64_t)ACCESS_READ);
    if (rc == 0)
        rc = allow(ruleset, &rules, wanted->folder, all);
    if (rc == 0)
        rc = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (rc == 0)
        rc = (int)syscall(SYS_landlock_restrict_self, ruleset, 0);
    return rc;
}

/* ---- the private folder ---- */

static const char folder_stem[] = "pkb-tmp-";

/* What launchers that were killed have left; the number in a name is its launcher's. */
static void sweep(void)
{
    DIR *tmp = opendir("/tmp");
    struct dirent *entry;
    struct stat facts;
    char path[PATH_MAX];

    while (tmp != NULL && (entry = readdir(tmp)) != NULL) {
        if (strncmp(entry->d_name, folder_stem, sizeof folder_stem - 1) != 0)
            continue;
        long pid = strtol(entry->d_name + sizeof folder_stem - 1, NULL, 10);
        snprintf(path, sizeof path, "/tmp/%s", entry->d_name);
        if (pid > 0 && kill((pid_t)pid, 0) < 0 && errno == ESRCH && lstat(path, &facts) == 0 &&
            S_ISDIR(facts.st_mode) && facts.st_uid == geteuid())
            pkb_fs_remove_tree(path, NULL);
    }
    if (tmp != NULL)
        closedir(tmp);
}

/* ---- the two processes ---- */

static _Noreturn void become(const restriction *wanted, pid_t parent)
{
    const char *directory = wanted->directory;

    if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent)
        _exit(FAILED_STATUS);
    setenv("TMPDIR", wanted->folder, 1);
    setenv("HOME", wanted->folder, 1);
    if (directory == NULL || strcmp(directory, "/tmp") == 0)
        directory = wanted->folder;
    if (chdir(directory) < 0)
        fprintf(stderr, "cannot change to %s: %s\n", directory, strerror(errno));
    else if (restrict_self(wanted) < 0)
        fprintf(stderr, "Landlock does not work here: %s\n", strerror(errno));
    else if (execvp(wanted->command[0], wanted->command) < 0)
        fprintf(stderr, "cannot run %s: %s\n", wanted->command[0], strerror(errno));
    _exit(FAILED_STATUS);
}

static bool parse(int argc, char **argv, restriction *out)
{
    int at = 0;

    *out = (restriction){.paths = argv};
    while (at + 1 < argc && (strcmp(argv[at], "-r") == 0 || strcmp(argv[at], "-w") == 0))
        at += 2;
    out->path_count = at;
    if (at + 1 < argc && strcmp(argv[at], "-C") == 0) {
        out->directory = argv[at + 1];
        at += 2;
    }
    out->command = argv + at + 1;
    return at + 1 < argc && strcmp(argv[at], "--") == 0;
}

int pkb_restrict_main(int argc, char **argv)
{
    restriction wanted;
    int status = 0;

    if (!parse(argc, argv, &wanted))
        return FAILED_STATUS;
    sweep();
    snprintf(wanted.folder, sizeof wanted.folder, "/tmp/%s%d-XXXXXX", folder_stem, (int)getpid());
    if (mkdtemp(wanted.folder) == NULL) {
        fprintf(stderr, "cannot make %s: %s\n", wanted.folder, strerror(errno));
        return FAILED_STATUS;
    }
    const pid_t parent = getpid();
    pid_t child = fork();
    if (child == 0)
        become(&wanted, parent);
    closefrom(STDERR_FILENO + 1); /* the command's alone: its death must end them */
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    pkb_fs_remove_tree(wanted.folder, NULL);
    if (child < 0)
        return FAILED_STATUS;
    return WIFSIGNALED(status) ? SIGNAL_BASE + WTERMSIG(status) : WEXITSTATUS(status);
}
