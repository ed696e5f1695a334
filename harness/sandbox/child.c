/* SPDX-License-Identifier: Apache-2.0
 *
 * Starting, watching and ending one child; see child.h.
 */
#include "harness/sandbox/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

enum { MAX_CHILD_FDS = 64, FIRST_FREE_FD = 3, EXEC_FAILED_STATUS = 127 };

/* What a child that could not become the program tells its parent before it ends. */
typedef struct start_failure {
    enum { STEP_GROUP, STEP_FDS, STEP_DIRECTORY, STEP_EXEC } step;
    int error;
} start_failure;

/* ---- in the child, between fork and exec: async-signal-safe calls only ---- */

static _Noreturn void give_up(int report_fd, int step)
{
    start_failure failure = {.error = errno};
    failure.step = step;
    if (write(report_fd, &failure, sizeof failure) < 0)
        _exit(EXEC_FAILED_STATUS);
    _exit(EXEC_FAILED_STATUS);
}

/* Every descriptor from 3 on goes away at exec, unless dup2 takes it back later. */
static int close_all_on_exec(void)
{
    const unsigned close_range_cloexec = 1 << 2;

    if (syscall(SYS_close_range, FIRST_FREE_FD, ~0u, close_range_cloexec) == 0)
        return 0;
    long limit = sysconf(_SC_OPEN_MAX); /* before Linux 5.11 */
    for (int fd = FIRST_FREE_FD; fd < limit; fd++)
        fcntl(fd, F_SETFD, FD_CLOEXEC);
    return 0;
}

static int top_fd(const pkb_child_options *options)
{
    int top = FIRST_FREE_FD;
    for (size_t i = 0; i < options->fd_count; i++)
        top = options->fds[i].to > top ? options->fds[i].to : top;
    return top;
}

/* First copies all sources out of the way, so that no target overwrites a later source. */
static int place_fds(const pkb_child_options *options, int *report_fd)
{
    const int base = top_fd(options) + 1;
    const int standard[3] = {options->stdin_fd, options->stdout_fd, options->stderr_fd};
    int sources[3 + MAX_CHILD_FDS];

    for (int i = 0; i < 3; i++) {
        int from = standard[i] >= 0 ? standard[i] : open("/dev/null", O_RDWR | O_CLOEXEC);
        sources[i] = fcntl(from, F_DUPFD_CLOEXEC, base);
        if (sources[i] < 0)
            return -1;
    }
    for (size_t i = 0; i < options->fd_count; i++) {
        sources[3 + i] = fcntl(options->fds[i].from, F_DUPFD_CLOEXEC, base);
        if (sources[3 + i] < 0)
            return -1;
    }
    *report_fd = fcntl(*report_fd, F_DUPFD_CLOEXEC, base);
    if (*report_fd < 0 || close_all_on_exec() < 0)
        return -1;
    for (int i = 0; i < 3; i++) {
        if (dup2(sources[i], i) < 0)
            return -1;
    }
    for (size_t i = 0; i < options->fd_count; i++) {
        if (dup2(sources[3 + i], options->fds[i].to) < 0)
            return -1;
    }
    return 0;
}

static void reset_signals(void)
{
    struct sigaction standard = {.sa_handler = SIG_DFL};
    sigset_t none;

    for (int number = 1; number < NSIG; number++)
        sigaction(number, &standard, NULL); /* fails for SIGKILL and SIGSTOP */
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

static _Noreturn void become(const pkb_child_options *options, int report_fd, pid_t parent)
{
    reset_signals();
    if (setpgid(0, 0) < 0 || prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
        give_up(report_fd, STEP_GROUP);
    if (getppid() != parent) /* it died before the line above */
        _exit(EXEC_FAILED_STATUS);
    int original_fd = report_fd;
    if (place_fds(options, &report_fd) < 0)
        give_up(report_fd >= 0 ? report_fd : original_fd, STEP_FDS);
    if (options->directory != NULL && chdir(options->directory) < 0)
        give_up(report_fd, STEP_DIRECTORY);
    char *const *argv = (char *const *)(uintptr_t)options->argv;
    char *const *environment =
        options->environment != NULL ? (char *const *)(uintptr_t)options->environment : environ;
    execvpe(argv[0], argv, environment);
    give_up(report_fd, STEP_EXEC);
}

/* ---- in the parent ---- */

static pkb_code check_options(const pkb_child_options *options, pkb_error *err)
{
    if (options->argv == NULL || options->argv[0] == NULL)
        return pkb_error_set(err, PKB_ERR_USAGE, 0, "no program to start");
    if (options->fd_count > MAX_CHILD_FDS)
        return pkb_error_set(err, PKB_ERR_USAGE, 0, "%zu descriptors are too many for a child",
                             options->fd_count);
    for (size_t i = 0; i < options->fd_count; i++) {
        if (options->fds[i].to < FIRST_FREE_FD)
            return pkb_error_set(err, PKB_ERR_USAGE, 0, "descriptor %d is a standard stream",
                                 options->fds[i].to);
    }
    return PKB_OK;
}

/* End of file means that exec worked. */
static pkb_code read_report(int report_fd, const pkb_child_options *options, pkb_error *err)
{
    static const char *const steps[] = {
        [STEP_GROUP] = "make a process group for",
        [STEP_FDS] = "hand descriptors to",
        [STEP_DIRECTORY] = "change the directory for",
        [STEP_EXEC] = "run",
    };
    start_failure failure;
    ssize_t got;

    do
        got = read(report_fd, &failure, sizeof failure);
    while (got < 0 && errno == EINTR);
    if (got == 0)
        return PKB_OK;
    if (got != (ssize_t)sizeof failure)
        return pkb_error_set(err, PKB_ERR_CHILD, 0, "lost %s while it started", options->argv[0]);
    /* A search in PATH that met a closed folder ends with EACCES instead of ENOENT. */
    bool is_name = strchr(options->argv[0], '/') == NULL;
    bool is_missing =
        failure.step == STEP_EXEC && (failure.error == ENOENT || failure.error == ENOTDIR ||
                                      (failure.error == EACCES && is_name));
    errno = failure.error;
    return pkb_error_set_errno(err, is_missing ? PKB_ERR_MISSING : PKB_ERR_IO, "cannot %s %s",
                               steps[failure.step], options->argv[0]);
}

/* Forks with all signals blocked, so that none of our handlers runs in the child. */
static pid_t fork_into(const pkb_child_options *options, int report_fd)
{
    const pid_t parent = getpid();
    sigset_t all, before;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pid_t pid = fork();
    if (pid == 0)
        become(options, report_fd, parent);
    int saved = errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = saved;
    return pid;
}

pkb_code pkb_child_start(pkb_child *child, const pkb_child_options *options, pkb_error *err)
{
    pkb_code rc = check_options(options, err);
    pkb_child started = PKB_CHILD_NONE;
    int report[2] = {-1, -1};

    if (rc != PKB_OK)
        return rc;
    if (pipe2(report, O_CLOEXEC) < 0)
        return pkb_error_set_errno(err, PKB_ERR_IO, "cannot make a pipe");
    started.pid = fork_into(options, report[1]);
    if (started.pid < 0) {
        started.pid = 0;
        rc = pkb_error_set_errno(err, PKB_ERR_IO, "cannot fork for %s", options->argv[0]);
        goto cleanup;
    }
    setpgid(started.pid, started.pid); /* whoever comes first: the group exists when we return */
    close(report[1]);
    report[1] = -1;
    rc = pkb_pidfd_open(&started.pidfd, started.pid, err);
    if (rc == PKB_OK)
        rc = read_report(report[0], options, err);
    if (rc != PKB_OK)
        goto cleanup;
    *child = started;
    started = (pkb_child)PKB_CHILD_NONE;
cleanup:
    pkb_child_kill(&started);
    for (int i = 0; i < 2; i++) {
        if (report[i] >= 0)
            close(report[i]);
    }
    return rc;
}

static void forget(pkb_child *child)
{
    if (child->pidfd >= 0)
        close(child->pidfd);
    *child = (pkb_child)PKB_CHILD_NONE;
}

pkb_code pkb_child_wait(pkb_child *child, uint64_t timeout_ns, pkb_child_exit *out, pkb_error *err)
{
    siginfo_t info = {0};

    if (child->pid == 0)
        return pkb_error_set(err, PKB_ERR_USAGE, 0, "there is no child to wait for");
    if (!pkb_pidfd_ended(child->pidfd, timeout_ns))
        return pkb_error_set(err, PKB_ERR_TIMEOUT, 0, "process %d still runs", (int)child->pid);
    kill(-child->pid, SIGKILL); /* the number is the group's until it is reaped */
    if (waitid(P_PID, (id_t)child->pid, &info, WEXITED) < 0) {
        pkb_code rc =
            pkb_error_set_errno(err, PKB_ERR_CHILD, "cannot wait for process %d", (int)child->pid);
        forget(child);
        return rc;
    }
    *out = (pkb_child_exit){.exited = info.si_code == CLD_EXITED};
    if (out->exited)
        out->status = info.si_status;
    else
        out->signal = info.si_status;
    forget(child);
    return PKB_OK;
}

void pkb_child_kill(pkb_child *child)
{
    if (child->pid > 0) {
        kill(-child->pid, SIGKILL);
        kill(child->pid, SIGKILL); /* should it not have reached its group yet */
        while (waitpid(child->pid, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    forget(child);
}

void pkb_child_exit_unwrap(pkb_child_exit *how)
{
    enum { SIGNAL_BASE = 128 };

    if (how->exited && how->status > SIGNAL_BASE && how->status < SIGNAL_BASE + NSIG)
        *how = (pkb_child_exit){.signal = how->status - SIGNAL_BASE};
}

void pkb_child_exit_text(const pkb_child_exit *how, char *out, size_t bytes)
{
    const char *name = how->exited ? NULL : sigabbrev_np(how->signal);

    if (how->exited)
        snprintf(out, bytes, "exited with status %d", how->status);
    else if (name != NULL)
        snprintf(out, bytes, "was killed by SIG%s", name);
    else
        snprintf(out, bytes, "was killed by signal %d", how->signal);
}

/* ---- processes by descriptor ---- */

pkb_code pkb_pidfd_open(int *pidfd, pid_t pid, pkb_error *err)
{
    long fd = syscall(SYS_pidfd_open, pid, 0); /* close-on-exec by definition */
    if (fd < 0)
        return pkb_error_set_errno(err, PKB_ERR_CHILD, "cannot watch process %d", (int)pid);
    *pidfd = (int)fd;
    return PKB_OK;
}

pkb_code pkb_pidfd_signal(int pidfd, int signal, pkb_error *err)
{
    if (syscall(SYS_pidfd_send_signal, pidfd, signal, NULL, 0) < 0)
        return pkb_error_set_errno(err, PKB_ERR_CHILD, "cannot send signal %d to a process",
                                   signal);
    return PKB_OK;
}

bool pkb_pidfd_ended(int pidfd, uint64_t timeout_ns)
{
    const uint64_t now_ns = pkb_clock_now_ns();
    const uint64_t deadline_ns = timeout_ns > INT64_MAX - now_ns ? INT64_MAX : now_ns + timeout_ns;
    struct pollfd poll_fd = {.fd = pidfd, .events = POLLIN};

    for (;;) {
        int ready = poll(&poll_fd, 1, pkb_clock_left_ms(deadline_ns));
        if (ready > 0)
            return true;
        if (ready < 0 && errno != EINTR)
            return false;
        if (ready == 0 && pkb_clock_left_ns(deadline_ns) == 0)
            return false;
    }
}
