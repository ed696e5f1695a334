/* SPDX-License-Identifier: Apache-2.0
 *
 * A rank under compute-sanitizer; see debug.h.
 */
#include "evaluator/attempt/debug.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fs.h"
#include "evaluator/console/clean.h"

enum { LIMIT_BYTES = 64 << 20, SHOWN_LINES = 300, LINE_BYTES = 500 };

static bool is_known(const char *tool)
{
    static const char *const known[] = {"memcheck", "racecheck", "synccheck", "initcheck"};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(tool, known[i]) == 0)
            return true;
    return false;
}

pkb_code pkb_debug_check(pkb_eval_options *options, bool is_cuda, pkb_error *err)
{
    if (!options->has_debug && options->debug_tool != NULL)
        return pkb_error_set(err, PKB_ERR_USAGE, 0,
                             "--debug-tool %s goes with --debug RANK: which rank?",
                             options->debug_tool);
    if (!options->has_debug)
        return PKB_OK;
    if (!is_cuda)
        return pkb_error_set(err, PKB_ERR_USAGE, 0,
                             "--debug runs a rank under NVIDIA's compute-sanitizer, which is for "
                             "GPUs; the CPU device checks every access by itself: leave --debug "
                             "out and read the reason");
    if (options->debug_rank >= options->world)
        return pkb_error_set(err, PKB_ERR_USAGE, 0,
                             "there is no rank %d to debug: %d ranks are numbered from 0",
                             options->debug_rank, options->world);
    if (options->debug_tool == NULL)
        options->debug_tool = "memcheck";
    if (!is_known(options->debug_tool))
        return pkb_error_set(err, PKB_ERR_USAGE, 0,
                             "--debug-tool takes memcheck, racecheck, synccheck or initcheck, not "
                             "'%s'",
                             options->debug_tool);
    options->is_timed = false;
    if (!options->has_timeout)
        options->timeout_s *= PKB_DEBUG_SLOWER;
    return PKB_OK;
}

/* ---- the tool ---- */

static char *if_program(const char *folder, const char *name)
{
    char *path = folder != NULL ? pkb_fs_join(folder, name) : NULL;
    if (path != NULL && access(path, X_OK) == 0)
        return path;
    free(path);
    return NULL;
}

pkb_code pkb_debug_find(char **program, const pkb_toolbox *tools, pkb_error *err)
{
    /* The one in bin/ is a script in some toolkits. */
    static const char *const places[] = {"bin/compute-sanitizer",
                                         "compute-sanitizer/compute-sanitizer",
                                         "extras/compute-sanitizer/compute-sanitizer"};
    char *found = NULL;

    for (size_t i = 0; i < sizeof places / sizeof places[0] && found == NULL; i++)
        found = if_program(tools->toolkit, places[i]);
    if (found == NULL)
        found = pkb_fs_find_program("compute-sanitizer");
    if (found == NULL)
        return pkb_error_set(err, PKB_ERR_MISSING, 0,
                             "no compute-sanitizer beside nvcc (in %s) or in PATH: install the one "
                             "of your CUDA toolkit (package cuda-sanitizer-13-0), or leave --debug "
                             "out",
                             tools->toolkit != NULL ? tools->toolkit : "no toolkit");
    *program = found;
    return PKB_OK;
}

/* ---- words ---- */

void pkb_debug_warn(FILE *to, const pkb_eval_options *options)
{
    fprintf(to,
            "pkbench: rank %d runs under compute-sanitizer (%s), slowly and WITHOUT A SANDBOX: "
            "only for code that you trust. Nothing is timed, and the record is no score.\n",
            options->debug_rank, options->debug_tool);
}

void pkb_debug_print(FILE *to, const pkb_workdir *workdir, const char *keep)
{
    char *path = pkb_workdir_path(workdir, PKB_DEBUG_NAME), *text = NULL;
    size_t bytes = 0, count = 0;
    pkb_buf line = {0};

    if (path == NULL || pkb_fs_read(path, LIMIT_BYTES, &text, &bytes, NULL) != PKB_OK) {
        fprintf(to, "compute-sanitizer said nothing\n");
        free(path);
        return;
    }
    const char *at = text;
    for (; *at != '\0' && count < SHOWN_LINES; count++) {
        const size_t length = strcspn(at, "\n");
        pkb_clean_append(&line, at, length, LINE_BYTES);
        fprintf(to, "%s\n", pkb_buf_text(&line));
        pkb_buf_clear(&line);
        at += length + (at[length] == '\n');
    }
    if (*at != '\0' && keep != NULL)
        fprintf(to, "… the rest is in %s/%s\n", keep, PKB_DEBUG_NAME);
    else if (*at != '\0')
        fprintf(to, "… there is more: --keep DIR keeps it\n");
    free(text);
    free(path);
}
