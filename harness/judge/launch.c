/* SPDX-License-Identifier: Apache-2.0
 *
 * Starts a cell's program; see launch.h.
 */
#include "harness/judge/launch.h"

#include <libgen.h>
#include <stdio.h>

#include "harness/memory/cell_open.h"

enum { ENVIRONMENT_MAX = 12, COMMAND_MAX = 24, PATH_BYTES = 4300 };

/* Folders, not the sandbox's: where libcudart.so.13 lies, then the driver's. */
static void write_library_path(char *out, size_t bytes, const pkb_cell_options *o, bool is_mapped)
{
    char folder[PATH_BYTES];
    const char *own = o->library_dir, *driver = "";

    if (o->gpus != NULL) {
        snprintf(folder, sizeof folder, "%s", o->cudart);
        own = dirname(folder);
        driver = o->gpus->shown.driver_folder;
    }
    snprintf(out, bytes, "LD_LIBRARY_PATH=%s%s%s", is_mapped ? "/pkb/lib" : own,
             driver[0] != '\0' ? ":" : "", driver);
}

/* All that a cell finds in its environment; `library` holds its LD_LIBRARY_PATH. */
static void fill_environment(const char **out, const pkb_cell_options *o, const char *library)
{
    size_t count = 0;
    out[count++] = "PATH=/usr/bin:/bin";
    out[count++] = "LANG=C.UTF-8";
    out[count++] = "HOME=/tmp";
    out[count++] = library;
    if (o->gpus != NULL) {
        out[count++] = o->gpus->visible;
        out[count++] = "CUDA_DEVICE_ORDER=PCI_BUS_ID";
        out[count++] = "CUDA_MODULE_LOADING=EAGER"; /* no loading under the clock */
        out[count++] = "CUDA_CACHE_DISABLE=1";
    }
    out[count] = NULL;
}

static void add(const char **command, size_t *count, const char *word)
{
    command[(*count)++] = word;
    command[*count] = NULL;
}

/* compute-sanitizer and its options stand before the cell, which then leaves their files open. */
static void fill_command(const char **out, const pkb_cell_options *o, bool is_mapped)
{
    size_t count = 0;

    if (o->debug != NULL) {
        add(out, &count, o->debug->program);
        add(out, &count, "--tool");
        add(out, &count, o->debug->tool);
        add(out, &count, "--log-file");
        add(out, &count, o->debug->log_path);
        add(out, &count, "--launch-timeout");
        add(out, &count, "120"); /* seconds until the cell is under way */
    }
    add(out, &count, is_mapped ? "/pkb/pkbench-cell" : o->program);
    if (o->debug != NULL)
        add(out, &count, "--debugged");
    add(out, &count, "--host");
    add(out, &count, is_mapped ? "/pkb/attempt.so" : o->host_path);
    add(out, &count, "--device");
    add(out, &count, is_mapped ? "/pkb/attempt.device.so" : o->device_path);
}

pkb_code pkb_cell_launch(pkb_child *child, const pkb_cell_options *o, int socket_fd, int output_fd,
                         pkb_error *err)
{
    bool is_mapped = o->level == PKB_SANDBOX_FULL; /* paths below /pkb exist there only */
    const char *environment[ENVIRONMENT_MAX], *command[COMMAND_MAX];
    char library[2 * PATH_BYTES];
    write_library_path(library, sizeof library, o, is_mapped);
    fill_environment(environment, o, library);
    fill_command(command, o, is_mapped);
    const pkb_sandbox_bind binds[] = {
        {.from = o->program, .to = is_mapped ? "/pkb/pkbench-cell" : NULL},
        {.from = o->gpus != NULL ? o->cudart : o->library_dir,
         .to = !is_mapped        ? NULL
               : o->gpus != NULL ? "/pkb/lib/libcudart.so.13"
                                 : "/pkb/lib"},
        {.from = o->host_path, .to = is_mapped ? "/pkb/attempt.so" : NULL},
        {.from = o->device_path, .to = is_mapped ? "/pkb/attempt.device.so" : NULL},
    };
    const pkb_sandbox_spec spec = {.level = o->level,
                                   .binds = binds,
                                   .bind_count = 4,
                                   .environment = environment,
                                   .gpus = o->gpus != NULL ? &o->gpus->shown : NULL};
    const pkb_child_fd fds[] = {{.from = socket_fd, .to = PKB_CELL_SOCKET_FD}};
    pkb_child_options start = {.environment = environment,
                               .directory = "/tmp",
                               .stdin_fd = -1,
                               .stdout_fd = output_fd,
                               .stderr_fd = output_fd,
                               .fds = fds,
                               .fd_count = 1};
    char **argv = NULL;
    pkb_code rc = pkb_sandbox_argv(&argv, &spec, command, err);
    if (rc == PKB_OK) {
        start.argv = (const char *const *)argv;
        rc = pkb_child_start(child, &start, err);
    }
    pkb_argv_free(argv);
    return rc;
}
