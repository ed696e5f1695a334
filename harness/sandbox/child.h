/* SPDX-License-Identifier: Apache-2.0
 *
 * One child process: started with a checked exec, watched through a pidfd, ended with its group.
 */
#ifndef PKB_HARNESS_CHILD_H
#define PKB_HARNESS_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

typedef struct pkb_child {
    pid_t pid; /* 0 = none; leads its own process group */
    int pidfd; /* -1 = none; readable once the child has ended */
} pkb_child;

#define PKB_CHILD_NONE \
    {                  \
        .pidfd = -1    \
    }

typedef struct pkb_child_fd {
    int from, to; /* the child gets `from` under the number `to` (>= 3) */
} pkb_child_fd;

typedef struct pkb_child_options {
    const char *const *argv;            /* argv[0] is looked up in PATH */
    const char *const *environment;     /* NULL = inherit */
    const char *directory;              /* NULL = inherit */
    int stdin_fd, stdout_fd, stderr_fd; /* -1 = /dev/null */
    const pkb_child_fd *fds;
    size_t fd_count; /* every other descriptor is closed */
} pkb_child_options;

typedef struct pkb_child_exit {
    bool exited; /* false: killed by `signal` */
    int status, signal;
} pkb_child_exit;

/* Starts the program; a failed exec is reported here (PKB_ERR_MISSING if there is no such program).
 * The child dies with the calling thread (PR_SET_PDEATHSIG): call it from the main thread. */
pkb_code pkb_child_start(pkb_child *child, const pkb_child_options *options, pkb_error *err);
/* Waits until it ends or the time is up (PKB_ERR_TIMEOUT; it then still runs). 0 = only look.
 * Reaps: afterwards the child is gone, what it left in its group is killed, and `child` is
 * PKB_CHILD_NONE. */
pkb_code pkb_child_wait(pkb_child *child, uint64_t timeout_ns, pkb_child_exit *out, pkb_error *err);
/* SIGKILL to the whole group, then reaps. Harmless on PKB_CHILD_NONE. */
void pkb_child_kill(pkb_child *child);

/* A process that is not our child, e.g. a cell behind bubblewrap, by the pid that the kernel told
 * (pkb_message.pid). Caller closes `*pidfd`, which is readable once the process has ended. */
pkb_code pkb_pidfd_open(int *pidfd, pid_t pid, pkb_error *err);
pkb_code pkb_pidfd_signal(int pidfd, int signal, pkb_error *err);
/* True once the process has ended; waits for at most `timeout_ns`. */
bool pkb_pidfd_ended(int pidfd, uint64_t timeout_ns);

/* Turns "exited with status 128 + n" into "killed by signal n", the form in which bubblewrap passes
 * on how its program ended. */
void pkb_child_exit_unwrap(pkb_child_exit *how);
/* "exited with status 3", "was killed by SIGSEGV". */
void pkb_child_exit_text(const pkb_child_exit *how, char *out, size_t bytes);

#endif
