/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds nvcc and its toolkit; see toolkit.h.
 */
#include "evaluator/machine/toolkit.h"

#include <glob.h>
#include <libgen.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/fs.h"
#include "evaluator/machine/process.h"
#include "evaluator/machine/workdir.h"

static char *if_program(char *path)
{
    if (path != NULL && access(path, X_OK) == 0)
        return path;
    free(path);
    return NULL;
}

/* bin/python of an environment -> lib/python3.11/site-packages/nvidia/cu13/bin/nvcc of it. */
static char *find_wheel(const char *python)
{
    pkb_buf pattern = {0};
    glob_t found = {0};
    char *result = NULL;
    char *copy = strdup(python);

    if (copy != NULL)
        pkb_buf_printf(&pattern, "%s/lib/python3*/site-packages/nvidia/cu13/bin/nvcc",
                       dirname(dirname(copy)));
    if (glob(pkb_buf_text(&pattern), 0, NULL, &found) == 0)
        result = if_program(strdup(found.gl_pathv[0]));
    globfree(&found);
    free(copy);
    pkb_buf_clear(&pattern);
    return result;
}

static char *find_candidate(const char *const *pythons, size_t count)
{
    const char *named = getenv("PKBENCH_NVCC");
    if (named != NULL && named[0] != '\0')
        return if_program(strdup(named));
    char *found = pkb_fs_find_program("nvcc");
    if (found == NULL)
        found = if_program(strdup("/usr/local/cuda/bin/nvcc"));
    for (size_t i = 0; i < count && found == NULL; i++)
        if (pythons[i] != NULL)
            found = find_wheel(pythons[i]);
    return found;
}

/* A toolkit's nvcc has the profile beside it; a script in front of it has not, but --dryrun makes
 * the real one say where it is. It makes temporary files all the same: where they lie, the next
 * start sweeps those of a killed one. */
static char *ask_folder(const char *nvcc)
{
    pkb_workdir scratch = PKB_WORKDIR_NONE;
    pkb_buf place = {0}, output = {0};
    if (pkb_workdir_open(&scratch, NULL) == PKB_OK)
        pkb_buf_printf(&place, "TMPDIR=%s", scratch.path);
    const char *const argv[] = {"env", pkb_buf_text(&place), nvcc, "--dryrun", "-x", "cu",
                                "-c",  "/dev/null",          NULL};
    /* Whoever cannot have a work directory is told so later. */
    const pkb_process_options options = {.argv = argv + (place.bytes > 0 ? 0 : 2),
                                         .directory = "/"};
    static const char mark[] = "_HERE_=";
    pkb_child_exit how;
    char *folder = NULL;

    if (pkb_process_run(&options, 20 * PKB_NS_PER_S, &how, &output, NULL) == PKB_OK) {
        const char *start = strstr(pkb_buf_text(&output), mark);
        if (start != NULL) {
            start += sizeof mark - 1;
            folder = strndup(start, strcspn(start, "\n"));
        }
    }
    pkb_buf_clear(&output);
    pkb_buf_clear(&place);
    pkb_workdir_close(&scratch);
    return folder;
}

char *pkb_toolkit_find(const char *const *pythons, size_t count, char **toolkit)
{
    char *nvcc = find_candidate(pythons, count);
    char *real = nvcc != NULL ? realpath(nvcc, NULL) : NULL;
    free(nvcc);
    if (real == NULL)
        return NULL;

    char *copy = strdup(real);
    char *folder = copy != NULL ? strdup(dirname(copy)) : NULL;
    free(copy);
    char *profile = folder != NULL ? pkb_fs_join(folder, "nvcc.profile") : NULL;
    if (profile != NULL && !pkb_fs_exists(profile)) {
        char *told = ask_folder(real);
        if (told != NULL) {
            free(folder);
            free(real);
            folder = told;
            real = pkb_fs_join(folder, "nvcc");
        }
    }
    free(profile);
    *toolkit = folder != NULL ? strdup(dirname(folder)) : NULL;
    free(folder);
    return real;
}

char *pkb_toolkit_runtime(const char *toolkit)
{
    static const char *const places[] = {"lib64", "targets/x86_64-linux/lib", "lib"};
    for (size_t i = 0; toolkit != NULL && i < sizeof places / sizeof places[0]; i++) {
        pkb_buf path = {0};
        pkb_buf_printf(&path, "%s/%s/libcudart.so.13", toolkit, places[i]);
        if (pkb_fs_exists(pkb_buf_text(&path)))
            return pkb_buf_take(&path);
        pkb_buf_clear(&path);
    }
    return NULL;
}
