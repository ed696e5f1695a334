/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads the files of control groups; see cgroup.h.
 */
#include "harness/judge/cgroup.h"

#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct version { /* names of files in a group's folder */
    const char *mount, *limit, *usage, *cache;
} version;

static const version first = {"/memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
                              "total_inactive_file "};
static const version second = {"", "memory.max", "memory.current", "inactive_file "};

static FILE *open_file(const char *folder, const char *name)
{
    char path[PATH_MAX];
    int length = snprintf(path, sizeof path, "%s/%s", folder, name);
    return length < (int)sizeof path ? fopen(path, "re") : NULL;
}

/* False where there is no such file, or no number in it: "max". */
static bool read_number(uint64_t *out, const char *folder, const char *name)
{
    FILE *file = open_file(folder, name);
    bool is_read = file != NULL && fscanf(file, "%" SCNu64, out) == 1;
    if (file != NULL)
        fclose(file);
    return is_read;
}

/* Pages of files that the kernel gives up before it kills anybody. */
static uint64_t cache_bytes(const char *folder, const version *names)
{
    char line[256];
    uint64_t bytes = 0;
    FILE *file = open_file(folder, "memory.stat");

    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, names->cache, strlen(names->cache)) == 0) {
            bytes = strtoull(line + strlen(names->cache), NULL, 10);
            break;
        }
    if (file != NULL)
        fclose(file);
    return bytes;
}

static uint64_t group_bytes(const char *folder, const version *names)
{
    uint64_t limit = 0, usage = 0;

    if (!read_number(&limit, folder, names->limit) || !read_number(&usage, folder, names->usage))
        return UINT64_MAX;
    const uint64_t cache = cache_bytes(folder, names);
    usage -= cache < usage ? cache : usage;
    return usage < limit ? limit - usage : 0;
}

/* The least that the group and those around it give. A container sees its own group as the top one,
 * whatever path it is told. */
static uint64_t least_bytes(const char *mounts, const char *group, const version *names)
{
    char folder[PATH_MAX];
    const int top = snprintf(folder, sizeof folder, "%s%s", mounts, names->mount);
    uint64_t least = UINT64_MAX;

    if (top + (int)strlen(group) >= (int)sizeof folder)
        return least;
    strcpy(folder + top, group);
    if (access(folder, F_OK) != 0)
        folder[top] = '\0';
    for (;;) {
        const uint64_t bytes = group_bytes(folder, names);
        least = bytes < least ? bytes : least;
        char *slash = strrchr(folder + top, '/');
        if (slash == NULL)
            return least;
        *slash = '\0';
    }
}

/* A line is "number:controllers:group"; version 2 names no controllers. */
static const version *version_of(const char *controllers)
{
    if (controllers[0] == '\0')
        return &second;
    for (const char *at = controllers; at != NULL; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, "memory", strcspn(at, ",")) == 0 && strcspn(at, ",") == strlen("memory"))
            return &first;
    }
    return NULL;
}

uint64_t pkb_cgroup_available_bytes(const char *mounts, const char *membership)
{
    char line[PATH_MAX];
    uint64_t least = UINT64_MAX;
    FILE *file = fopen(membership, "re");

    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        char *controllers = strchr(line, ':');
        char *group = controllers != NULL ? strchr(controllers + 1, ':') : NULL;
        if (group == NULL)
            continue;
        *controllers++ = *group++ = '\0';
        group[strcspn(group, "\n")] = '\0';
        const version *names = version_of(controllers);
        const uint64_t bytes = names != NULL ? least_bytes(mounts, group, names) : UINT64_MAX;
        least = bytes < least ? bytes : least;
    }
    if (file != NULL)
        fclose(file);
    return least;
}
