/* SPDX-License-Identifier: Apache-2.0
 *
 * Signals to whole trees of processes; see tree.h. A tree changes while it is looked at, so it is
 * looked at again until nothing of it is found running: what is stopped makes no children, and an
 * orphan of the tree goes to one above it that is in the tree as well (process 1 of a namespace, or
 * a subreaper).
 */
#include "evaluator/machine/tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"

#define PAUSE_NS (PKB_NS_PER_MS / 2)
#define KILL_TIMEOUT_NS PKB_NS_PER_S

typedef struct process {
    pid_t pid, parent, session;
    char state;
    bool is_member;
} process;

typedef struct processes {
    process *items;
    size_t count, capacity;
} processes;

static bool read_process(process *out, const char *pid)
{
    char path[64], text[512];

    snprintf(path, sizeof path, "/proc/%.20s/stat", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t count = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    if (count <= 0)
        return false;
    text[count] = '\0';
    /* The name in parentheses may hold anything. */
    const char *end = strrchr(text, ')');
    if (end == NULL || end[1] != ' ' || end[2] == '\0' || end[3] != ' ')
        return false;
    int parent = 0, group = 0, session = 0;
    if (sscanf(end + 4, "%d %d %d", &parent, &group, &session) != 3)
        return false;
    *out = (process){
        .pid = (pid_t)strtol(pid, NULL, 10), .parent = parent, .session = session, .state = end[2]};
    return true;
}

static void add(processes *list, const process *found)
{
    if (list->count == list->capacity) {
        const size_t wanted = list->capacity == 0 ? 256 : 2 * list->capacity;
        process *larger = reallocarray(list->items, wanted, sizeof *larger);
        if (larger == NULL)
            return;
        list->items = larger;
        list->capacity = wanted;
    }
    list->items[list->count++] = *found;
}

static processes list_all(void)
{
    processes list = {0};
    process found;
    DIR *folder = opendir("/proc");

    for (struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;)
        if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' &&
            read_process(&found, entry->d_name))
            add(&list, &found);
    if (folder != NULL)
        closedir(folder);
    return list;
}

static bool is_below(const processes *list, const process *it)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i].is_member && list->items[i].pid == it->parent)
            return true;
    return false;
}

/* The caller frees the items. */
static processes list_tree(pid_t root)
{
    processes list = list_all();
    bool grows = true;

    for (size_t i = 0; i < list.count; i++)
        list.items[i].is_member = list.items[i].pid == root;
    while (grows) {
        grows = false;
        for (size_t i = 0; i < list.count; i++)
            if (!list.items[i].is_member && is_below(&list, &list.items[i]))
                grows = list.items[i].is_member = true;
    }
    return list;
}

/* Stopped, or ended. */
static bool is_still(char state)
{
    return strchr("TtZXx", state) != NULL;
}

/* Whether any of them was running. */
static bool stop_running(pid_t root)
{
    processes list = list_tree(root);
    bool runs = false;

    for (size_t i = 0; i < list.count; i++)
        if (list.items[i].is_member && !is_still(list.items[i].state)) {
            runs = true;
            kill(list.items[i].pid, SIGSTOP);
        }
    free(list.items);
    return runs;
}

bool pkb_tree_stop(pid_t root, uint64_t timeout_ns)
{
    const uint64_t deadline_ns = pkb_clock_now_ns() + timeout_ns;

    while (stop_running(root)) {
        if (pkb_clock_left_ns(deadline_ns) == 0)
            return false;
        pkb_clock_sleep_ns(PAUSE_NS);
    }
    return true;
}

static void signal_all(pid_t root, int number)
{
    processes list = list_tree(root);

    for (size_t i = 0; i < list.count; i++)
        if (list.items[i].is_member)
            kill(list.items[i].pid, number);
    free(list.items);
}

void pkb_tree_continue(pid_t root)
{
    signal_all(root, SIGCONT);
}

/* Of the session that the process leads. The kernel takes few such changes a second, so only those
 * that change something are asked for. */
static void renice_session(pid_t leader, int priority)
{
    char path[64], text[64] = "";
    int now = 0;

    snprintf(path, sizeof path, "/proc/%d/autogroup", (int)leader);
    int fd = open(path, O_RDWR | O_CLOEXEC); /* there is none where the kernel has no such thing */
    if (fd < 0)
        return;
    const ssize_t count = read(fd, text, sizeof text - 1);
    const char *value = count > 0 ? strstr(text, "nice ") : NULL;
    if (value != NULL && sscanf(value, "nice %d", &now) == 1 && now != priority) {
        const int bytes = snprintf(text, sizeof text, "%d", priority);
        if (write(fd, text, (size_t)bytes) != bytes)
            now = priority; /* as it was, then */
    }
    close(fd);
}

void pkb_tree_renice(pid_t root, int priority)
{
    processes list = list_tree(root);

    for (size_t i = 0; i < list.count; i++) {
        const process *it = &list.items[i];
        if (!it->is_member)
            continue;
        setpriority(PRIO_PROCESS, (id_t)it->pid, priority);
        if (it->session == it->pid)
            renice_session(it->pid, priority);
    }
    free(list.items);
}

void pkb_tree_kill(pid_t root)
{
    pkb_tree_stop(root, KILL_TIMEOUT_NS);
    signal_all(root, SIGKILL);
}
