/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds strays by their command lines; see stray.h.
 */
#include "harness/sandbox/stray.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/sandbox/child.h"

enum { ARGUMENTS_BYTES = 1 << 16 };

/* By its real user: the files in /proc of one that has changed its rights are root's. */
static bool is_ours(const char *folder)
{
    char path[64], line[128];
    unsigned user = 0;
    bool is_known = false;

    snprintf(path, sizeof path, "%s/status", folder);
    FILE *file = fopen(path, "re");
    while (file != NULL && !is_known && fgets(line, sizeof line, file) != NULL)
        is_known = sscanf(line, "Uid: %u", &user) == 1;
    if (file != NULL)
        fclose(file);
    return is_known && user == getuid();
}

/* All words, each with a NUL behind it. A command line that is longer than any of ours is cut. */
static size_t read_arguments(char *out, const char *folder)
{
    char path[64];
    size_t used = 0;
    ssize_t count = 0;

    snprintf(path, sizeof path, "%s/cmdline", folder);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    while (fd >= 0 && used + 1 < ARGUMENTS_BYTES &&
           (count = read(fd, out + used, ARGUMENTS_BYTES - 1 - used)) > 0)
        used += (size_t)count;
    if (fd >= 0)
        close(fd);
    out[used] = '\0';
    return used;
}

/* The name as sandbox.c starts it: nobody else's bubblewrap has our paths, and nothing else that
 * has them (an editor, a shell of the same user) is a stray. */
static bool is_stray(const char *arguments, size_t bytes, const char *path)
{
    const size_t length = strlen(path);

    if (bytes == 0 || strcmp(arguments, "bwrap") != 0)
        return false;
    for (const char *word = arguments; word < arguments + bytes; word += strlen(word) + 1)
        if (strncmp(word, path, length) == 0 && (word[length] == '\0' || word[length] == '/'))
            return true;
    return false;
}

/* The descriptor is taken first, so that the number cannot pass to somebody else meanwhile. */
static bool end_if_stray(const char *pid, const char *path, char *arguments)
{
    char folder[48];
    int pidfd = -1;

    snprintf(folder, sizeof folder, "/proc/%.20s", pid);
    if (pkb_pidfd_open(&pidfd, (pid_t)strtol(pid, NULL, 10), NULL) != PKB_OK)
        return false;
    const bool is_ended = is_ours(folder) &&
                          is_stray(arguments, read_arguments(arguments, folder), path) &&
                          pkb_pidfd_signal(pidfd, SIGKILL, NULL) == PKB_OK;
    close(pidfd);
    return is_ended;
}

size_t pkb_stray_end(const char *path)
{
    char *arguments = malloc(ARGUMENTS_BYTES);
    DIR *processes = arguments != NULL ? opendir("/proc") : NULL;
    size_t count = 0;

    for (struct dirent *entry; processes != NULL && (entry = readdir(processes)) != NULL;)
        if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9')
            count += end_if_stray(entry->d_name, path, arguments);
    if (processes != NULL)
        closedir(processes);
    free(arguments);
    return count;
}
