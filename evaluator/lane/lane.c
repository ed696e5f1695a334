/* SPDX-License-Identifier: Apache-2.0
 *
 * Starts and ends the process of a lane; see lane.h.
 */
#include "evaluator/lane/lane.h"

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
static _Noreturn void become(pkb_lane *lane, int socket_fd, pid_t parent)
{
    int status = START_FAILED_STATUS;

    if (setpgid(0, 0) == 0 && prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == parent &&
        keep_only(socket_fd) &&
        (!lane->has_cores || sched_setaffinity(0, sizeof lane->cores, &lane->cores) == 0))
        status = pkb_lane_serve(SOCKET_FD, &lane->setting);
    _exit(status); /* what the command had buffered is the command's to write */
}

/* ---- in the command ---- */

pkb_code pkb_lane_start(pkb_lane *lane, pkb_error *err)
{
    const pid_t parent = getpid();
    int pair[2];

    pkb_code rc = pkb_socket_pair(pair, 0, err);
    if (rc != PKB_OK)
        return rc;
    fflush(NULL);
    const pid_t pid = fork();
    if (pid == 0)
        become(lane, pair[1], parent);
    const int saved = errno;
    close(pair[1]);
    errno = saved;
    if (pid < 0) {
        rc = pkb_error_set_errno(err, PKB_ERR_IO, "cannot fork for a world");
        close(pair[0]);
        return rc;
    }
    setpgid(pid, pid); /* whoever comes first: the group exists when we return */
    lane->process = (pkb_child){.pid = pid, .pidfd = -1};
    lane->socket_fd = pair[0];
    lane->idle_since_ns = pkb_clock_now_ns();
    rc = pkb_pidfd_open(&lane->process.pidfd, pid, err);
    if (rc != PKB_OK)
        pkb_lane_end(lane, 0);
    return rc;
}

pkb_code pkb_lane_give(pkb_lane *lane, pkb_evaluation *evaluation, pkb_error *err)
{
    const pkb_job job = pkb_job_of(evaluation);

    lane->evaluation = evaluation;
    lane->tries++;
    return pkb_job_send(lane->socket_fd, &job, err);
}

void pkb_lane_close(pkb_lane *lane)
{
    if (lane->socket_fd >= 0)
        close(lane->socket_fd);
    lane->socket_fd = -1;
}

void pkb_lane_end(pkb_lane *lane, uint64_t deadline_ns)
{
    pkb_child_exit how;

    pkb_lane_close(lane);
    if (lane->process.pid == 0)
        return;
    pkb_child_wait(&lane->process, pkb_clock_left_ns(deadline_ns), &how, NULL);
    pkb_child_kill(&lane->process);
}
