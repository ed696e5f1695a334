/* SPDX-License-Identifier: Apache-2.0
 *
 * Processes that a test starts below another one, and what /proc says of them.
 */
#ifndef PKB_TESTS_PROCESSES_H
#define PKB_TESTS_PROCESSES_H

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/hung.h"

enum { PKB_TEST_PIDS = 8 };

/* State letter of a process, 0 = there is none. */
static inline char state_of(pid_t pid)
{
    char path[64], text[512];

    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return 0;
    const size_t count = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[count] = '\0';
    const char *end = strrchr(text, ')');
    return end != NULL ? end[2] : '\0';
}

static inline bool is_gone(pid_t pid)
{
    const char state = state_of(pid);
    return state == 0 || state == 'Z' || state == 'X';
}

/* In a process of the tree: its pid goes into the file. */
static inline void note_pid(const char *path, pid_t pid)
{
    char text[16];
    const int bytes = snprintf(text, sizeof text, "%d\n", (int)pid);
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, text, (size_t)bytes) != bytes)
        _exit(9);
    close(fd);
}

static inline int read_pids(const char *path, pid_t pids[PKB_TEST_PIDS])
{
    int count = 0, pid = 0;
    FILE *file = fopen(path, "re");
    while (file != NULL && count < PKB_TEST_PIDS && fscanf(file, "%d", &pid) == 1)
        pids[count++] = (pid_t)pid;
    if (file != NULL)
        fclose(file);
    return count;
}

/* Waits until `count` processes noted themselves; false: they do not come. */
static inline bool wait_for_pids(const char *path, pid_t pids[PKB_TEST_PIDS], int count)
{
    const uint64_t deadline_ns = pkb_clock_now_ns() + PKB_TEST_HUNG_NS;
    while (read_pids(path, pids) < count) {
        if (pkb_clock_left_ns(deadline_ns) == 0)
            return false;
        pkb_clock_sleep_ns(PKB_NS_PER_MS);
    }
    return true;
}

static inline bool wait_until_gone(pid_t pid)
{
    const uint64_t deadline_ns = pkb_clock_now_ns() + PKB_TEST_HUNG_NS;
    while (!is_gone(pid)) {
        if (pkb_clock_left_ns(deadline_ns) == 0)
            return false;
        pkb_clock_sleep_ns(PKB_NS_PER_MS);
    }
    return true;
}

static inline void spin(void)
{
    for (volatile unsigned turns = 0;; turns++)
        ;
}

/* A tree such as a compiler's: a child in a session of its own, a grandchild that spins in it, and
 * an orphan below the caller (a subreaper). Four processes with the caller note their pids. */
static inline void grow_tree(const char *path)
{
    note_pid(path, getpid());
    if (fork() == 0) {
        setsid();
        note_pid(path, getpid());
        if (fork() == 0) {
            note_pid(path, getpid());
            spin();
        }
        spin();
    }
    if (fork() == 0) {
        if (fork() == 0) {
            note_pid(path, getpid());
            spin();
        }
        _exit(0); /* the one below is an orphan then */
    }
}
enum { PKB_TEST_TREE = 4 };

#endif
