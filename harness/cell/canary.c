/* SPDX-License-Identifier: Apache-2.0
 *
 * A bird for the mine; see canary.h.
 */
#include "harness/cell/canary.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/sandbox/filter.h"

enum { MOST_PROCESSES = 4, ESCAPED = 1, BAD_USAGE = 2 };

static bool opens(const char *path, int flags)
{
    int fd = open(path, flags | O_CLOEXEC, 0600);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

/* ---- what the namespaces must keep away ---- */

static const char *reach_files(const char *lure)
{
    static const char *const readable[] = {"/etc/shadow", "/etc/passwd", "/root/.bashrc",
                                           "/root/.profile", "/proc/1/mem"};
    static const char *const writable[] = {"/proc/sys/kernel/core_pattern",
                                           "/proc/sys/vm/overcommit_memory", "/proc/sysrq-trigger"};
    static const char *const creatable[] = {"/canary",     "/usr/canary",     "/dev/canary",
                                            "/pkb/canary", "/dev/shm/canary", "/var/tmp/canary"};

    if (opens(lure, O_RDONLY))
        return "reads the judge's files";
    for (size_t i = 0; i < sizeof readable / sizeof readable[0]; i++) {
        if (opens(readable[i], O_RDONLY))
            return readable[i];
    }
    for (size_t i = 0; i < sizeof writable / sizeof writable[0]; i++) {
        if (opens(writable[i], O_WRONLY))
            return writable[i];
    }
    for (size_t i = 0; i < sizeof creatable / sizeof creatable[0]; i++) {
        if (opens(creatable[i], O_WRONLY | O_CREAT))
            return creatable[i];
    }
    return NULL;
}

static bool connects(int family, const struct sockaddr *address, socklen_t bytes)
{
    int fd = socket(family, family == AF_UNIX ? SOCK_SEQPACKET : SOCK_STREAM, 0);
    bool is_connected = fd >= 0 && connect(fd, address, bytes) == 0;
    if (fd >= 0)
        close(fd);
    return is_connected;
}

static const char *reach_network(const char *name, const char *port)
{
    struct sockaddr_un local = {.sun_family = AF_UNIX};
    struct sockaddr_in tcp = {.sin_family = AF_INET,
                              .sin_port = htons((uint16_t)strtoul(port, NULL, 10)),
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    size_t length = strnlen(name, sizeof local.sun_path - 1);

    memcpy(local.sun_path + 1, name, length); /* abstract: a NUL before the name */
    if (connects(AF_UNIX, (const struct sockaddr *)&local,
                 (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + length)))
        return "connects to a UNIX socket outside";
    if (connects(AF_INET, (const struct sockaddr *)&tcp, sizeof tcp))
        return "connects to a TCP port outside";
    return NULL;
}

static const char *reach_processes(void)
{
    DIR *proc = opendir("/proc");
    struct dirent *entry;
    int count = 0;

    while (proc != NULL && (entry = readdir(proc)) != NULL)
        count += entry->d_name[0] >= '1' && entry->d_name[0] <= '9';
    if (proc != NULL)
        closedir(proc);
    return count > MOST_PROCESSES ? "sees processes outside" : NULL;
}

static const char *keep_rights(void)
{
    enum { PERMITTED = 1 }; /* words of capget: effective, permitted, inheritable; twice */
    uint32_t header[2] = {0x20080522, 0}, sets[6] = {0};

    if (syscall(SYS_capget, header, sets) < 0 || sets[PERMITTED] != 0 || sets[3 + PERMITTED] != 0)
        return "has capabilities";
    return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 ? NULL : "may gain privileges";
}

/* ---- what the filter must stop ---- */

static void try_fork(void)
{
    if (fork() == 0)
        _exit(0);
}

static void try_exec(void)
{
    execl("/bin/true", "true", (char *)NULL);
}

static void try_socket(void)
{
    socket(AF_UNIX, SOCK_STREAM, 0);
}

static void try_ptrace(void)
{
    ptrace(PTRACE_TRACEME, 0, NULL, NULL);
}

static void try_kill(void)
{
    kill(getppid(), 0);
}

static const char *pass_filter(void)
{
    static const struct {
        void (*attempt)(void);
        const char *name;
    } tries[] = {{try_fork, "forks"},
                 {try_exec, "runs programs"},
                 {try_socket, "opens sockets"},
                 {try_ptrace, "traces"},
                 {try_kill, "signals others"}};

    for (size_t i = 0; i < sizeof tries / sizeof tries[0]; i++) {
        int status = 0;
        pid_t pid = fork();
        if (pid == 0) {
            if (pkb_filter_install(NULL, NULL) == PKB_OK)
                tries[i].attempt();
            _exit(0);
        }
        if (pid < 0 || waitpid(pid, &status, 0) != pid)
            return "cannot test the filter";
        if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGSYS)
            return tries[i].name;
    }
    return NULL;
}

int pkb_canary_main(int argc, char **argv)
{
    const char *escape = NULL;

    if (argc != 4)
        return BAD_USAGE;
    const bool is_full = strcmp(argv[0], "full") == 0;
    escape = reach_files(argv[1]);
    if (escape == NULL && is_full)
        escape = reach_network(argv[2], argv[3]);
    if (escape == NULL && is_full)
        escape = reach_processes();
    if (escape == NULL)
        escape = keep_rights();
    if (escape == NULL)
        escape = pass_filter();
    if (escape == NULL)
        return 0;
    printf("the canary got out: %s\n", escape);
    return ESCAPED;
}
