/* SPDX-License-Identifier: Apache-2.0
 *
 * Starts and ends the process of a lane; see lane_process.h.
 */
#include "evaluator/lane/lane_process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "evaluator/lane/lane_serve.h"
#include "harness/sandbox/message.h"

enum { SOCKET_FD = 3, START_FAILED_STATUS = 3 };

/* ---- in the new process ---- */

/* Standard input and output are the command's alone: a reader of its output must see the end of it
 * although a lane still ends. So are its files, their locks, and the sockets of other lanes. */
static bool keep_only(int socket_fd)
{
    const int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);

    if (null_fd < 0 || dup2(null_fd, STDIN_FILENO) < 0 || dup2(null_fd, STDOUT_FILENO) < 0)
        return false;
    if (socket_fd != SOCKET_FD && dup3(socket_fd, SOCKET_FD, O_CLOEXEC) < 0)
        return false;
    return syscall(SYS_close_range, SOCKET_FD + 1, ~0U, 0) == 0;
}

/* A group of its own: Ctrl-C at a terminal is for the command, which decides what becomes of it. */
static _Noreturn void become(pkb_setting *setting, const cpu_set_t *cores, int socket_fd,
                             const pkb_pulse *pulse, pid_t parent)
{
    int status = START_FAILED_STATUS;

    if (setpgid(0, 0) == 0 && prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == parent &&
        keep_only(socket_fd) && (cores == NULL || sched_setaffinity(0, sizeof *cores, cores) == 0))
        status = pkb_lane_serve(SOCKET_FD, setting, pulse);
    _exit(status); /* what the command had buffered is the command's to write */
}

/* ---- in the command ---- */

pkb_code pkb_lane_process_start(pkb_lane_process *process, pkb_setting *setting,
                                const cpu_set_t *cores, pkb_error *err)
{
    const pid_t parent = getpid();
    pkb_lane_process started = PKB_LANE_PROCESS_NONE;
    int pair[2];

    pkb_code rc = pkb_pulse_open(&started.pulse, err);
    if (rc == PKB_OK)
        rc = pkb_socket_pair(pair, 0, err);
    if (rc != PKB_OK) {
        pkb_lane_process_end(&started, 0);
        return rc;
    }
    fflush(NULL);
    started.socket_fd = pair[0];
    const pid_t pid = fork();
    if (pid == 0)
        become(setting, cores, pair[1], &started.pulse, parent);
    const int saved = errno;
    close(pair[1]);
    errno = saved;
    if (pid < 0) {
        rc = pkb_error_set_errno(err, PKB_ERR_IO, "cannot fork for a world");
    } else {
        setpgid(pid, pid); /* whoever comes first: the group exists when we return */
        started.child.pid = pid;
        rc = pkb_pidfd_open(&started.child.pidfd, pid, err);
    }
    if (rc == PKB_OK)
        *process = started;
    else
        pkb_lane_process_end(&started, 0);
    return rc;
}

void pkb_lane_process_close(pkb_lane_process *process)
{
    if (process->socket_fd >= 0)
        close(process->socket_fd);
    process->socket_fd = -1;
}

void pkb_lane_process_end(pkb_lane_process *process, uint64_t deadline_ns)
{
    pkb_child_exit how;

    pkb_lane_process_close(process);
    pkb_pulse_close(&process->pulse);
    if (process->child.pid == 0)
        return;
    pkb_child_wait(&process->child, pkb_clock_left_ns(deadline_ns), &how, NULL);
    pkb_child_kill(&process->child);
}
