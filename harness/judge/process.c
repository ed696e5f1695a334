/* SPDX-License-Identifier: Apache-2.0
 *
 * Signals by pidfd and readings of /proc; see process.h.
 */
#include "harness/judge/process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "harness/judge/cgroup.h"

#define STOP_LOOK_NS UINT64_C(50000)
#define STOP_AGAIN_NS (200 * PKB_NS_PER_MS)
/* A thread that was told to stop runs no more code of its own, but for one that a processor runs at
 * that moment. */
#define DEFIANCE_NS (50 * PKB_NS_PER_MS)

pkb_code pkb_process_take(pkb_process *process, pid_t pid, pkb_error *err)
{
    char path[64];
    int fd = (int)syscall(SYS_pidfd_open, pid, 0);

    if (fd < 0)
        return pkb_error_set_errno(err, PKB_ERR_CHILD, "cannot hold process %d", (int)pid);
    *process = (pkb_process){.pid = pid, .pidfd = fd};
    snprintf(path, sizeof path, "/proc/%d/oom_score_adj", (int)pid);
    fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return PKB_OK; /* it ended already, which others will see */
    if (write(fd, "1000", 4) < 0)
        fprintf(stderr, "pkbench-judge: cannot set %s: %s\n", path, strerror(errno));
    close(fd);
    return PKB_OK;
}

void pkb_process_release(pkb_process *process)
{
    if (process->pidfd >= 0)
        close(process->pidfd);
    *process = (pkb_process)PKB_PROCESS_NONE;
}

bool pkb_process_has_ended(const pkb_process *process)
{
    struct pollfd poll_fd = {.fd = process->pidfd, .events = POLLIN};
    return process->pidfd >= 0 && poll(&poll_fd, 1, 0) > 0;
}

static bool send_signal(const pkb_process *process, int number)
{
    return process->pidfd >= 0 &&
           syscall(SYS_pidfd_send_signal, process->pidfd, number, NULL, 0) == 0;
}

static bool read_text(char *out, size_t bytes, const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? -1 : read(fd, out, bytes - 1);
    int failure = errno;

    if (fd >= 0)
        close(fd);
    out[got > 0 ? got : 0] = '\0';
    errno = got == 0 ? ESRCH : failure;
    return got > 0;
}

/* What stands behind the name in a file `stat`, which may hold anything itself; NULL if nothing. */
static const char *behind_name(const char *text)
{
    const char *end = strrchr(text, ')');
    return end != NULL && end[1] == ' ' ? end + 2 : NULL;
}

/* The state letter of a thread; 'X' if it is gone, '?' if nobody can say. */
static char thread_state(pid_t pid, const char *thread)
{
    char path[96], text[512];
    snprintf(path, sizeof path, "/proc/%d/task/%.20s/stat", (int)pid, thread);
    if (!read_text(text, sizeof text, path))
        return errno == ENOENT || errno == ESRCH ? 'X' : '?';
    const char *state = behind_name(text);
    return state != NULL ? *state : '?';
}

static bool is_stopped(pid_t pid)
{
    char path[64];
    bool stopped = true;
    struct dirent *entry = NULL;

    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *directory = opendir(path);
    if (directory == NULL)
        return false;
    while (stopped && (entry = readdir(directory)) != NULL)
        if (entry->d_name[0] != '.')
            stopped = strchr("TtXZ", thread_state(pid, entry->d_name)) != NULL;
    closedir(directory);
    return stopped;
}

/* Processor time in its own code, of all threads that it ever had. */
static uint64_t user_ns(pid_t pid)
{
    char path[64], text[512];
    uint64_t ticks = 0;

    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    if (!read_text(text, sizeof text, path))
        return 0;
    const char *fields = behind_name(text);
    if (fields == NULL ||
        sscanf(fields, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %" SCNu64, &ticks) != 1)
        return 0;
    return ticks * (PKB_NS_PER_S / (uint64_t)sysconf(_SC_CLK_TCK));
}

/* Asks again now and then: what undoes a SIGSTOP must be doing so all the time. A signal cannot be
 * refused, so what is late is either a thread that gets no processor, which is no fault of the
 * attempt, or code that undoes the signal, which has to run for that. */
pkb_stop pkb_process_stop(const pkb_process *process, uint64_t timeout_ns)
{
    const uint64_t begin_ns = pkb_clock_now_ns(), used_ns = user_ns(process->pid);
    uint64_t asked_ns = begin_ns;

    if (!send_signal(process, SIGSTOP))
        return PKB_STOP_ENDED;
    while (!is_stopped(process->pid)) {
        const uint64_t now_ns = pkb_clock_now_ns();
        if (pkb_process_has_ended(process))
            return PKB_STOP_ENDED;
        if (now_ns - begin_ns > timeout_ns)
            return user_ns(process->pid) > used_ns + DEFIANCE_NS ? PKB_STOP_DEFIED : PKB_STOP_LATE;
        if (now_ns - asked_ns > STOP_AGAIN_NS) {
            send_signal(process, SIGSTOP);
            asked_ns = now_ns;
        }
        pkb_clock_sleep_ns(STOP_LOOK_NS);
    }
    return pkb_process_has_ended(process) ? PKB_STOP_ENDED : PKB_STOP_DONE;
}

void pkb_process_continue(const pkb_process *process)
{
    send_signal(process, SIGCONT);
}

void pkb_process_kill(const pkb_process *process)
{
    send_signal(process, SIGKILL);
}

bool pkb_process_wait(const pkb_process *process, uint64_t timeout_ns)
{
    uint64_t deadline_ns = pkb_clock_now_ns() + timeout_ns;
    struct pollfd poll_fd = {.fd = process->pidfd, .events = POLLIN};
    while (process->pidfd >= 0 && poll(&poll_fd, 1, pkb_clock_left_ms(deadline_ns)) <= 0)
        if (pkb_clock_left_ns(deadline_ns) == 0)
            return false;
    return true;
}

bool pkb_process_look(const pkb_process *process, pkb_process_usage *out)
{
    char path[64], line[256];
    uint64_t number = 0;

    *out = (pkb_process_usage){0};
    snprintf(path, sizeof path, "/proc/%d/status", (int)process->pid);
    FILE *file = process->pid > 0 ? fopen(path, "re") : NULL;
    if (file == NULL)
        return false;
    while (fgets(line, sizeof line, file) != NULL) {
        if (sscanf(line, "RssAnon: %" SCNu64, &number) == 1)
            out->private_bytes += number * 1024;
        else if (sscanf(line, "VmPTE: %" SCNu64, &number) == 1) /* reading costs them, too */
            out->private_bytes += number * 1024;
        else if (sscanf(line, "RssShmem: %" SCNu64, &number) == 1)
            out->shared_bytes = number * 1024;
        else if (sscanf(line, "Threads: %" SCNu64, &number) == 1)
            out->threads = (uint32_t)number;
    }
    fclose(file);
    return !pkb_process_has_ended(process);
}

size_t pkb_process_list_threads(const pkb_process *process, pid_t *out, size_t most)
{
    char path[64];
    size_t count = 0;
    struct dirent *entry = NULL;

    snprintf(path, sizeof path, "/proc/%d/task", (int)process->pid);
    DIR *directory = process->pid > 0 ? opendir(path) : NULL;
    if (directory == NULL)
        return 0;
    while ((entry = readdir(directory)) != NULL) {
        if (entry->d_name[0] == '.')
            continue;
        if (count < most)
            out[count] = (pid_t)strtol(entry->d_name, NULL, 10);
        count++;
    }
    closedir(directory);
    return count;
}

uint64_t pkb_process_available_bytes(void)
{
    char line[128];
    uint64_t available_kib = 0;
    FILE *file = fopen("/proc/meminfo", "re");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "MemAvailable: %" SCNu64, &available_kib) == 1)
            break;
    if (file != NULL)
        fclose(file);
    const uint64_t allowed = pkb_cgroup_available_bytes("/sys/fs/cgroup", "/proc/self/cgroup");
    return available_kib * 1024 < allowed ? available_kib * 1024 : allowed;
}
