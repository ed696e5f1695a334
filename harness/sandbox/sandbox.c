/* SPDX-License-Identifier: Apache-2.0
 *
 * Command lines of sandboxed programs; see sandbox.h.
 */
#include "harness/sandbox/sandbox.h"

#include <dirent.h>
#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fs.h"

enum { DEFAULT_TMP_BYTES = 64 << 20, SMALL_TMPFS_BYTES = 1 << 20 };

static const char *const level_names[] = {
    [PKB_SANDBOX_NONE] = "none",
    [PKB_SANDBOX_RESTRICTED] = "restricted",
    [PKB_SANDBOX_FULL] = "full",
};

const char *pkb_sandbox_level_name(pkb_sandbox_level level)
{
    return level_names[level];
}

pkb_code pkb_sandbox_level_parse(const char *name, pkb_sandbox_level *out, pkb_error *err)
{
    for (size_t i = 0; i < sizeof level_names / sizeof level_names[0]; i++) {
        if (strcmp(name, level_names[i]) == 0) {
            *out = (pkb_sandbox_level)i;
            return PKB_OK;
        }
    }
    return pkb_error_set(err, PKB_ERR_USAGE, 0,
                         "unknown sandbox level \"%s\": full, restricted or none", name);
}

/* ---- a growing argv; failure is sticky, as with pkb_buf ---- */

typedef struct words {
    char **items; /* NULL-terminated */
    size_t count, capacity;
    bool has_failed;
} words;

static void add_owned(words *list, char *word)
{
    enum { FIRST_CAPACITY = 64 };

    if (word == NULL || list->has_failed)
        goto failed;
    if (list->count + 1 >= list->capacity) {
        size_t capacity = list->capacity == 0 ? FIRST_CAPACITY : list->capacity * 2;
        char **items = realloc(list->items, capacity * sizeof *items);
        if (items == NULL)
            goto failed;
        list->items = items;
        list->capacity = capacity;
    }
    list->items[list->count++] = word;
    list->items[list->count] = NULL;
    return;
failed:
    free(word);
    list->has_failed = true;
}

/* Copies words until NULL. */
static void add_copies(words *list, const char *const *copied)
{
    for (; *copied != NULL; copied++)
        add_owned(list, strdup(*copied));
}
#define add(list, ...) add_copies((list), (const char *const[]){__VA_ARGS__, NULL})

static void add_number(words *list, size_t number)
{
    char text[32];
    snprintf(text, sizeof text, "%zu", number);
    add(list, text);
}

void pkb_argv_free(char **argv)
{
    for (size_t i = 0; argv != NULL && argv[i] != NULL; i++)
        free(argv[i]);
    free(argv);
}

static pkb_code finish(char ***out, words *list, pkb_error *err)
{
    if (list->has_failed) {
        pkb_argv_free(list->items);
        return pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for a command line");
    }
    *out = list->items;
    return PKB_OK;
}

/* ---- full: namespaces by bubblewrap ---- */

static void add_namespaces(words *list)
{
    add(list, "bwrap", "--unshare-all", "--unshare-user", "--die-with-parent", "--new-session",
        "--hostname", "sandbox");
    /* The user keeps its number inside but never root's rights: bubblewrap lets root keep its
     * capabilities unless told otherwise. */
    add(list, "--uid", "65534", "--gid", "65534", "--cap-drop", "ALL");
}

/* /bin and its like are links into /usr on some systems, folders on others. */
static void add_system_folder(words *list, const char *path)
{
    char target[256];
    struct stat facts;

    if (lstat(path, &facts) < 0)
        return;
    if (!S_ISLNK(facts.st_mode)) {
        add(list, "--ro-bind", path, path);
        return;
    }
    ssize_t length = readlink(path, target, sizeof target - 1);
    if (length > 0) {
        target[length] = '\0';
        add(list, "--symlink", target, path);
    }
}

static void add_system(words *list)
{
    static const char *const folders[] = {"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"};
    static const char *const files[] = {"/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d",
                                        "/etc/alternatives"};

    add(list, "--ro-bind", "/usr", "/usr");
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++)
        add_system_folder(list, folders[i]);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        add(list, "--ro-bind-try", files[i], files[i]);
}

static int is_machine_wide(const struct dirent *entry)
{
    bool is_process = entry->d_name[0] >= '0' && entry->d_name[0] <= '9';
    return entry->d_name[0] != '.' && !is_process && entry->d_type != DT_LNK;
}

/* Everything in /proc but what belongs to a process. */
static void add_proc_covers(words *list)
{
    struct dirent **entries = NULL;
    char path[sizeof entries[0]->d_name + 16];
    int count = scandir("/proc", &entries, is_machine_wide, alphasort);

    if (count < 0)
        list->has_failed = true;
    for (int i = 0; i < count; i++) {
        snprintf(path, sizeof path, "/proc/%s", entries[i]->d_name);
        add(list, "--ro-bind-try", path, path);
        free(entries[i]);
    }
    free(entries);
}

/* Run by root, bubblewrap leaves the files in /proc/sys writable: their owner is us. NVIDIA's
 * driver does not start unless it can write the names of its own threads, into /proc/self/task. */
static void add_proc(words *list, bool has_gpu)
{
    add(list, "--proc", "/proc");
    /* Process 1 is bubblewrap's, of the same user and without a filter: through /proc/1/mem it
     * would do whatever a cell writes into it. */
    add(list, "--size");
    add_number(list, SMALL_TMPFS_BYTES);
    add(list, "--tmpfs", "/proc/1", "--remount-ro", "/proc/1");
    if (has_gpu)
        add_proc_covers(list);
    else
        add(list, "--remount-ro", "/proc");
}

/* Not bubblewrap's own /dev: its tmpfs and /dev/shm have no limit. */
static void add_devices(words *list)
{
    static const char *const nodes[] = {"/dev/null", "/dev/zero", "/dev/full", "/dev/random",
                                        "/dev/urandom"};

    add(list, "--size");
    add_number(list, SMALL_TMPFS_BYTES);
    add(list, "--tmpfs", "/dev");
    for (size_t i = 0; i < sizeof nodes / sizeof nodes[0]; i++)
        add(list, "--dev-bind", nodes[i], nodes[i]);
}

static void add_binds(words *list, const pkb_sandbox_spec *spec)
{
    for (size_t i = 0; i < spec->bind_count; i++) {
        const pkb_sandbox_bind *bind = &spec->binds[i];
        bool is_device = strncmp(bind->from, "/dev/", strlen("/dev/")) == 0;
        add(list,
            is_device        ? "--dev-bind"
            : bind->writable ? "--bind"
                             : "--ro-bind",
            bind->from, bind->to != NULL ? bind->to : bind->from);
    }
}

/* ---- GPUs: their device files, the driver's own ones, and what it reads about the machine ---- */

typedef void add_path(words *list, const char *path, bool is_device);

static void add_bound(words *list, const char *path, bool is_device)
{
    add(list, is_device ? "--dev-bind" : "--ro-bind", path, path);
}

static void add_allowed(words *list, const char *path, bool is_device)
{
    add(list, is_device ? "-w" : "-r", path);
}

static void add_if_there(words *list, const char *path, bool is_device, add_path *add_one)
{
    if (access(path, F_OK) == 0)
        add_one(list, path, is_device);
}

/* /proc/driver/nvidia lies in every /proc: only `restricted` has to name it. */
static void add_gpus(words *list, const pkb_sandbox_gpus *gpus, add_path *add_one)
{
    /* Not nvidia-uvm-tools: it serves profilers alone. */
    static const char *const devices[] = {"/dev/nvidiactl", "/dev/nvidia-uvm"};
    static const char *const facts[] = {"/sys/devices/system/cpu", "/sys/devices/system/node"};
    char path[64];

    if (gpus == NULL)
        return;
    for (size_t i = 0; i < sizeof devices / sizeof devices[0]; i++)
        add_if_there(list, devices[i], true, add_one);
    for (size_t i = 0; i < gpus->count; i++) {
        snprintf(path, sizeof path, "/dev/nvidia%d", gpus->minors[i]);
        add_if_there(list, path, true, add_one);
    }
    for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++)
        add_if_there(list, facts[i], false, add_one);
    if (gpus->driver_folder != NULL && gpus->driver_folder[0] != '\0' &&
        strncmp(gpus->driver_folder, "/usr/", strlen("/usr/")) != 0)
        add_one(list, gpus->driver_folder, false);
}

static void add_bubblewrap(words *list, const pkb_sandbox_spec *spec)
{
    add_namespaces(list);
    add_system(list);
    add_proc(list, spec->gpus != NULL);
    add_devices(list);
    add(list, "--size");
    add_number(list, spec->tmp_bytes != 0 ? spec->tmp_bytes : DEFAULT_TMP_BYTES);
    add(list, "--tmpfs", "/tmp");
    add_binds(list, spec);
    add_gpus(list, spec->gpus, add_bound);
    /* The root itself is a tmpfs without a limit: nothing may be written there any more. */
    add(list, "--remount-ro", "/dev", "--remount-ro", "/");
    add(list, "--chdir", spec->directory != NULL ? spec->directory : "/tmp", "--clearenv");
    for (size_t i = 0; spec->environment != NULL && spec->environment[i] != NULL; i++) {
        const char *equals = strchr(spec->environment[i], '=');
        if (equals == NULL)
            continue;
        add(list, "--setenv");
        add_owned(list, strndup(spec->environment[i], (size_t)(equals - spec->environment[i])));
        add(list, equals + 1);
    }
    add(list, "--");
}

/* ---- none: the same program with its paths as they are outside ---- */

static bool is_word_start(const char *text, size_t at)
{
    return at == 0 || strchr("=:,", text[at - 1]) != NULL ||
           (at == 2 && text[0] == '-'); /* -I/path, -L/path */
}

/* The bind with the longest `to` that begins at `text`, NULL if there is none. */
static const pkb_sandbox_bind *bind_at(const pkb_sandbox_spec *spec, const char *text)
{
    const pkb_sandbox_bind *best = NULL;

    for (size_t i = 0; i < spec->bind_count; i++) {
        const char *to = spec->binds[i].to;
        size_t bytes = to != NULL ? strlen(to) : 0;
        if (bytes == 0 || strncmp(text, to, bytes) != 0 || strchr("/:,", text[bytes]) == NULL)
            continue;
        if (best == NULL || bytes > strlen(best->to))
            best = &spec->binds[i];
    }
    return best;
}

static char *rewrite(const pkb_sandbox_spec *spec, const char *word)
{
    pkb_buf text;

    pkb_buf_init(&text);
    for (size_t at = 0; word[at] != '\0';) {
        const pkb_sandbox_bind *bind = is_word_start(word, at) ? bind_at(spec, word + at) : NULL;
        if (bind == NULL) {
            pkb_buf_append_byte(&text, word[at++]);
        } else {
            pkb_buf_append_string(&text, bind->from);
            at += strlen(bind->to);
        }
    }
    return word[0] == '\0' ? strdup("") : pkb_buf_take(&text);
}

static void add_plain(words *list, const pkb_sandbox_spec *spec)
{
    add(list, "env", "-i", "-C");
    add_owned(list, rewrite(spec, spec->directory != NULL ? spec->directory : "/tmp"));
    for (size_t i = 0; spec->environment != NULL && spec->environment[i] != NULL; i++)
        add_owned(list, rewrite(spec, spec->environment[i]));
}

/* ---- restricted: Landlock, applied by pkbench-cell, and paths as they are outside ---- */

pkb_code pkb_sandbox_find_cell(char **out, pkb_error *err)
{
    enum { PATH_LEVELS = 3 };
    char program[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);

    if (length < 0)
        return pkb_error_set_errno(err, PKB_ERR_IO, "cannot read /proc/self/exe");
    program[length] = '\0';
    char *folder = program;
    for (int i = 0; i < PATH_LEVELS; i++) {
        folder = dirname(folder);
        char *cell = pkb_fs_join(folder, "pkbench-cell");
        if (cell != NULL && access(cell, X_OK) == 0) {
            *out = cell;
            return PKB_OK;
        }
        free(cell);
    }
    return pkb_error_set(err, PKB_ERR_MISSING, 0, "pkbench-cell is not built: run make");
}

static void add_restrictions(words *list, const pkb_sandbox_spec *spec, const char *cell)
{
    add(list, "env", "-i");
    for (size_t i = 0; spec->environment != NULL && spec->environment[i] != NULL; i++)
        add_owned(list, rewrite(spec, spec->environment[i]));
    add(list, cell, "--restrict");
    for (size_t i = 0; i < spec->bind_count; i++)
        add(list, spec->binds[i].writable ? "-w" : "-r", spec->binds[i].from);
    add_gpus(list, spec->gpus, add_allowed);
    if (spec->gpus != NULL)
        add(list, "-r", "/proc/driver/nvidia", "-r", "/proc/devices", "-w", "/proc/self/task");
    add(list, "-C");
    add_owned(list, rewrite(spec, spec->directory != NULL ? spec->directory : "/tmp"));
    add(list, "--");
}

/* ---- command lines ---- */

pkb_code pkb_sandbox_argv(char ***out, const pkb_sandbox_spec *spec, const char *const *command,
                          pkb_error *err)
{
    words list = {0};
    char *cell = NULL;

    if (spec->level == PKB_SANDBOX_RESTRICTED) {
        pkb_code rc = pkb_sandbox_find_cell(&cell, err);
        if (rc != PKB_OK)
            return rc;
        add_restrictions(&list, spec, cell);
        free(cell);
    } else if (spec->level == PKB_SANDBOX_FULL) {
        add_bubblewrap(&list, spec);
    } else {
        add_plain(&list, spec);
    }
    for (size_t i = 0; command[i] != NULL; i++)
        add_owned(&list,
                  spec->level == PKB_SANDBOX_FULL ? strdup(command[i]) : rewrite(spec, command[i]));
    return finish(out, &list, err);
}
