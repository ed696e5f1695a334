/* SPDX-License-Identifier: Apache-2.0
 *
 * Compiling ahead; see ahead.h. A child a job: it dies with its parent, and the compilers with it,
 * whether they are stopped or not.
 */
#include "evaluator/compile/ahead.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "evaluator/machine/tree.h"
#include "evaluator/machine/workdir.h"
#include "harness/sandbox/child.h"
#include "harness/sandbox/stray.h"

/* A tick looks at so many jobs, as far as they are not wanted. */
enum { LOOKED_AT = 64, NICE = 10 };
#define RENICE_NS (200 * PKB_NS_PER_MS)
#define STOP_AT_ONCE_NS (20 * PKB_NS_PER_MS)
#define STOP_LATEST_NS (20 * PKB_NS_PER_S)

typedef struct running {
    pkb_child child; /* PKB_CHILD_NONE = a free place */
    size_t job;
    char *directory;
    bool is_taken; /* it is wanted now */
    bool is_still; /* none of its processes runs, as long as it is paused */
    uint64_t reniced_ns;
    uint64_t since_ns, before_ns; /* it runs since then; and ran so long before the last pause */
} running;

struct pkb_ahead {
    pkb_ahead_options options;
    pkb_workdir workdir;
    running places[PKB_AHEAD_AT_ONCE];
    size_t finished[PKB_AHEAD_MOST]; /* jobs that are not wanted yet */
    size_t finished_count;
    size_t next, begun, end;
    bool is_paused;
    uint64_t paused_ns; /* when */
};

pkb_code pkb_ahead_start(pkb_ahead **out, const pkb_ahead_options *options, pkb_error *err)
{
    pkb_ahead *ahead = calloc(1, sizeof *ahead);
    if (ahead == NULL)
        return pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for compiling ahead");

    ahead->options = *options;
    for (size_t i = 0; i < PKB_AHEAD_AT_ONCE; i++)
        ahead->places[i].child = (pkb_child)PKB_CHILD_NONE;
    pkb_code rc = pkb_workdir_open(&ahead->workdir, err);
    if (rc != PKB_OK) {
        free(ahead);
        return rc;
    }
    *out = ahead;
    return PKB_OK;
}

/* ---- in the child ---- */

static void write_text(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    if (write(fd, text, strlen(text)) < 0)
        (void)text; /* as it was, then */
    close(fd);
}

/* Its own group, so that Ctrl-C reaches the caller alone; no descriptors, so that no lock of the
 * caller's outlives it; orphans below it stay below it. Where memory lacks, it goes as soon as a
 * cell does, and the larger of them first. */
static void stand_apart(const pkb_ahead_options *options, pid_t parent)
{
    setpgid(0, 0);
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent ||
        prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
        _exit(1);
    int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd = 0; null_fd >= 0 && fd <= 2; fd++)
        dup2(null_fd, fd);
    if (syscall(SYS_close_range, 3, ~0u, 0) < 0)
        for (int fd = 3; fd < (int)sysconf(_SC_OPEN_MAX); fd++) /* before Linux 5.9 */
            close(fd);
    write_text("/proc/self/oom_score_adj", "1000");
    /* Where these fail it disturbs a little more. */
    setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + NICE);
    if (options->cores != NULL)
        sched_setaffinity(0, sizeof *options->cores, options->cores);
}

/* ---- in the caller ---- */

static void free_place(running *place)
{
    pkb_child_kill(&place->child);
    if (place->directory != NULL)
        pkb_fs_remove_tree(place->directory, NULL);
    free(place->directory);
    *place = (running){.child = PKB_CHILD_NONE};
}

static void begin(pkb_ahead *ahead, running *place, size_t job)
{
    const pid_t parent = getpid();
    char name[32];

    snprintf(name, sizeof name, "ahead-%zu", job);
    place->job = job;
    place->directory = pkb_workdir_path(&ahead->workdir, name);
    if (place->directory == NULL || pkb_fs_make_directory(place->directory, 0700, NULL) != PKB_OK) {
        free_place(place);
        return;
    }
    place->before_ns = 0;
    place->since_ns = pkb_clock_now_ns();
    const pid_t pid = fork();
    if (pid == 0) {
        stand_apart(&ahead->options, parent);
        ahead->options.build(ahead->options.context, job, place->directory);
        pkb_stray_end(place->directory); /* whose sandbox somebody killed: they came to us */
        _exit(0);
    }
    place->child.pid = pid > 0 ? pid : 0;
    if (pid > 0)
        setpgid(pid, pid); /* whoever comes first */
    if (pid < 0 || pkb_pidfd_open(&place->child.pidfd, pid, NULL) != PKB_OK)
        free_place(place);
}

static void note_finished(pkb_ahead *ahead, const running *place)
{
    if (!place->is_taken && ahead->finished_count < PKB_AHEAD_MOST)
        ahead->finished[ahead->finished_count++] = place->job;
}

static bool is_used(const running *place)
{
    return place->child.pid > 0;
}

static void renice(running *place)
{
    pkb_tree_renice(place->child.pid, getpriority(PRIO_PROCESS, 0) + (place->is_taken ? 0 : NICE));
    place->reniced_ns = pkb_clock_now_ns();
}

/* The sandbox begins new sessions for its compilers, whose share of a core does not follow from the
 * priority of who began them. */
static void renice_all(pkb_ahead *ahead)
{
    for (size_t i = 0; i < ahead->options.at_once; i++) {
        running *place = &ahead->places[i];
        if (is_used(place) && pkb_clock_now_ns() - place->reniced_ns > RENICE_NS)
            renice(place);
    }
}

/* Also one that took too long is finished: nobody tries it again here. */
static void end_finished(pkb_ahead *ahead)
{
    pkb_child_exit how;

    for (size_t i = 0; i < ahead->options.at_once; i++) {
        running *place = &ahead->places[i];
        if (!is_used(place))
            continue;
        const uint64_t ran_ns = place->before_ns + pkb_clock_now_ns() - place->since_ns;
        const bool is_over = pkb_child_wait(&place->child, 0, &how, NULL) != PKB_ERR_TIMEOUT;
        if (!is_over && ran_ns < ahead->options.timeout_ns)
            continue;
        if (!is_over)
            pkb_tree_kill(place->child.pid);
        note_finished(ahead, place);
        free_place(place);
    }
}

static running *find_place(pkb_ahead *ahead)
{
    running *found = NULL;
    size_t count = ahead->finished_count;

    for (size_t i = 0; i < ahead->options.at_once; i++) {
        if (!is_used(&ahead->places[i]))
            found = &ahead->places[i];
        else
            count++;
    }
    return count < ahead->options.most ? found : NULL;
}

/* A process that sleeps in the kernel, or waits for a core on a busy machine, stops as soon as it
 * wakes up; one that does not for very long is killed. */
static void stop(pkb_ahead *ahead, running *place, uint64_t timeout_ns)
{
    place->is_still = place->is_still || pkb_tree_stop(place->child.pid, timeout_ns);
    if (place->is_still || pkb_clock_now_ns() - ahead->paused_ns < STOP_LATEST_NS)
        return;
    pkb_tree_kill(place->child.pid);
    note_finished(ahead, place);
    free_place(place);
}

static void stop_all(pkb_ahead *ahead, uint64_t timeout_ns)
{
    for (size_t i = 0; i < ahead->options.at_once; i++)
        if (is_used(&ahead->places[i]))
            stop(ahead, &ahead->places[i], timeout_ns);
}

void pkb_ahead_tick(pkb_ahead *ahead)
{
    running *place = NULL;

    if (ahead == NULL)
        return;
    if (ahead->is_paused) {
        stop_all(ahead, 0);
        return;
    }
    end_finished(ahead);
    if (ahead->options.cores == NULL)
        renice_all(ahead);
    if (ahead->next < ahead->begun)
        ahead->next = ahead->begun;
    for (int i = 0; i < LOOKED_AT && ahead->next < ahead->end; i++) {
        place = find_place(ahead);
        if (place == NULL)
            return;
        const size_t job = ahead->next++;
        if (ahead->options.is_wanted(ahead->options.context, job))
            begin(ahead, place, job);
    }
}

/* Somebody waits for what was begun ahead: it has the priority of any other work now, where the
 * system lets us give it back. */
static void hurry(running *place)
{
    place->is_taken = true;
    renice(place);
}

void pkb_ahead_take(pkb_ahead *ahead, size_t job)
{
    size_t kept = 0;

    if (ahead == NULL)
        return;
    for (size_t i = 0; i < ahead->finished_count; i++)
        if (ahead->finished[i] != job)
            ahead->finished[kept++] = ahead->finished[i];
    ahead->finished_count = kept;
    for (size_t i = 0; i < ahead->options.at_once; i++)
        if (is_used(&ahead->places[i]) && ahead->places[i].job == job)
            hurry(&ahead->places[i]);
}

void pkb_ahead_move(pkb_ahead *ahead, size_t begun, size_t end)
{
    if (ahead == NULL)
        return;
    for (size_t job = ahead->begun; job < begun && job < ahead->next; job++)
        pkb_ahead_take(ahead, job);
    ahead->begun = begun;
    ahead->end = end;
}

void pkb_ahead_pause(pkb_ahead *ahead, bool is_paused)
{
    const uint64_t now_ns = pkb_clock_now_ns();

    if (ahead == NULL || ahead->is_paused == is_paused)
        return;
    ahead->is_paused = is_paused;
    ahead->paused_ns = now_ns;
    for (size_t i = 0; i < ahead->options.at_once; i++) {
        running *place = &ahead->places[i];
        if (!is_used(place))
            continue;
        place->is_still = false;
        if (is_paused)
            place->before_ns += now_ns - place->since_ns;
        else
            pkb_tree_continue(place->child.pid);
        place->since_ns = now_ns;
    }
    if (is_paused)
        stop_all(ahead, STOP_AT_ONCE_NS);
}

void pkb_ahead_end(pkb_ahead *ahead)
{
    if (ahead == NULL)
        return;
    for (size_t i = 0; i < ahead->options.at_once; i++) {
        if (is_used(&ahead->places[i]))
            pkb_tree_kill(ahead->places[i].child.pid);
        free_place(&ahead->places[i]);
    }
    pkb_workdir_close(&ahead->workdir);
    free(ahead);
}
