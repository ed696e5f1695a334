/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds the programs that judging needs; see tool.h. How nvcc is found is in toolkit.c.
 */
#include "evaluator/machine/tool.h"

#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/fs.h"
#include "evaluator/console/interrupt.h"
#include "evaluator/machine/process.h"
#include "evaluator/machine/toolkit.h"

#define ANSWER_TIMEOUT_NS (20 * PKB_NS_PER_S)

static const pkb_tool wanted[PKB_TOOL_COUNT] = {
    [PKB_TOOL_NVCC] = {.name = "nvcc",
                       .remedy =
                           "install the CUDA toolkit 13, or run tools/setup.sh, which gets it "
                           "from PyPI; $PKBENCH_NVCC names one elsewhere"},
    [PKB_TOOL_CUDART] = {.name = "libcudart.so.13",
                         .remedy = "it belongs to the CUDA toolkit 13 (PyPI: nvidia-cuda-runtime)"},
    [PKB_TOOL_GCC] = {.name = "gcc", .remedy = "apt-get install gcc g++"},
    [PKB_TOOL_MPIRUN] = {.name = "mpirun", .remedy = "apt-get install openmpi-bin"},
    [PKB_TOOL_PYTHON] = {.name = "python",
                         .remedy = "run tools/setup.sh, which makes .venv; $PKBENCH_PYTHON names "
                                   "another interpreter"},
    [PKB_TOOL_TORCH] = {.name = "torch",
                        .remedy = "run tools/setup.sh, or install PyTorch for the interpreter that "
                                  "$PKBENCH_PYTHON names"},
    [PKB_TOOL_TRANSLATOR] = {.name = "pkbench-ptx2c", .remedy = "run make"},
    [PKB_TOOL_JUDGE] = {.name = "pkbench-judge", .remedy = "run make"},
    [PKB_TOOL_CELL] = {.name = "pkbench-cell", .remedy = "run make"},
};

/* The remedies that differ where `make install` put the command: no set-up made an environment. */
static const char *const installed_remedies[PKB_TOOL_COUNT] = {
    [PKB_TOOL_PYTHON] = "set PKBENCH_PYTHON to a Python that has torch and numpy",
    [PKB_TOOL_TORCH] = "set PKBENCH_PYTHON to a Python that has torch, or install PyTorch for the "
                       "one that it names",
    [PKB_TOOL_NVCC] = "install the CUDA toolkit 13, or pip install nvidia-cuda-nvcc for the Python "
                      "that PKBENCH_PYTHON names; $PKBENCH_NVCC names one elsewhere",
    [PKB_TOOL_TRANSLATOR] = "run make install again",
    [PKB_TOOL_JUDGE] = "run make install again",
    [PKB_TOOL_CELL] = "run make install again",
};

/* An installed command has no Makefile above it. */
static void choose_remedies(pkb_toolbox *box)
{
    char *makefile = pkb_toolbox_path(box, "Makefile");
    const bool is_installed = makefile != NULL && !pkb_fs_exists(makefile);

    memcpy(box->tools, wanted, sizeof wanted);
    for (pkb_tool_id id = 0; is_installed && id < PKB_TOOL_COUNT; id++)
        if (installed_remedies[id] != NULL)
            box->tools[id].remedy = installed_remedies[id];
    free(makefile);
}

/* What a program prints; false, with the tool's problem set, if it does not run well. */
static bool ask(pkb_tool *tool, const char *const *argv, pkb_buf *output)
{
    const pkb_process_options options = {.argv = argv};
    pkb_child_exit how = {0};
    pkb_error err = {0};
    char end[64] = "";

    pkb_code rc = pkb_process_run(&options, ANSWER_TIMEOUT_NS, &how, output, &err);
    if (rc == PKB_OK && how.exited && how.status == 0)
        return true;
    if (rc == PKB_OK) /* killed, it may be a bad moment and no broken tool */
        pkb_child_exit_text(&how, end, sizeof end);
    snprintf(tool->problem, sizeof tool->problem, "%s does not run: %s%s", tool->path,
             rc == PKB_OK ? "it " : "", rc == PKB_OK ? end : err.message);
    return false;
}

/* The word after `mark`. */
static void cut_word(char *out, size_t bytes, const char *text, const char *mark)
{
    const char *start = strstr(text, mark);
    start = start != NULL ? start + strlen(mark) : "";
    snprintf(out, bytes, "%.*s", (int)strcspn(start, " ,\n"), start);
}

static void cut_version(pkb_tool *tool, const char *text, const char *mark)
{
    cut_word(tool->version, sizeof tool->version, text, mark);
}

static void ask_version(pkb_tool *tool, const char *const *argv, const char *mark)
{
    pkb_buf output = {0};
    if (ask(tool, argv, &output))
        cut_version(tool, pkb_buf_text(&output), mark);
    pkb_buf_clear(&output);
}

static void find_nvcc(pkb_toolbox *box)
{
    pkb_tool *nvcc = &box->tools[PKB_TOOL_NVCC], *cudart = &box->tools[PKB_TOOL_CUDART];
    char *own = pkb_toolbox_path(box, ".venv/bin/python"); /* $PKBENCH_PYTHON may be another */
    const char *const pythons[] = {box->tools[PKB_TOOL_PYTHON].path, own};

    nvcc->path = pkb_toolkit_find(pythons, sizeof pythons / sizeof pythons[0], &box->toolkit);
    free(own);
    if (nvcc->path == NULL)
        return;
    cudart->path = pkb_toolkit_runtime(box->toolkit);
    ask_version(nvcc, (const char *[]){nvcc->path, "--version", NULL}, ", V");
    if (nvcc->problem[0] == '\0' && strtol(nvcc->version, NULL, 10) != 13)
        snprintf(nvcc->problem, sizeof nvcc->problem, "%s is version %s, and 13 is needed",
                 nvcc->path, nvcc->version);
}

static void find_in_path(pkb_toolbox *box)
{
    pkb_tool *gcc = &box->tools[PKB_TOOL_GCC], *mpirun = &box->tools[PKB_TOOL_MPIRUN];

    gcc->path = pkb_fs_find_program("gcc");
    if (gcc->path != NULL)
        ask_version(gcc, (const char *[]){gcc->path, "-dumpfullversion", NULL}, "");
    mpirun->path = pkb_fs_find_program("mpirun");
    if (mpirun->path != NULL)
        ask_version(mpirun, (const char *[]){mpirun->path, "--version", NULL}, "(Open MPI) ");
}

static char *python_path(const pkb_toolbox *box)
{
    const char *named = getenv("PKBENCH_PYTHON");
    if (named == NULL || named[0] == '\0')
        return pkb_toolbox_path(box, ".venv/bin/python");
    return strchr(named, '/') == NULL ? pkb_fs_find_program(named) : strdup(named);
}

/* One start of the interpreter answers for Python and for torch. */
static void find_python(pkb_toolbox *box)
{
    static const char question[] = "import importlib.metadata as m, sys\n"
                                   "print('python ' + sys.version.split()[0])\n"
                                   "try:\n"
                                   "    print('torch ' + m.version('torch'))\n"
                                   "    for need in m.requires('torch') or []:\n"
                                   "        name = need.split(';')[0].split('==')[0].strip()\n"
                                   "        if name.startswith('nvidia-nccl'):\n"
                                   "            print('nccl ' + m.version(name))\n"
                                   "except m.PackageNotFoundError: pass\n";
    pkb_tool *python = &box->tools[PKB_TOOL_PYTHON], *torch = &box->tools[PKB_TOOL_TORCH];
    pkb_buf output = {0};
    char *path = python_path(box);

    if (path == NULL || access(path, X_OK) != 0) {
        free(path);
        return;
    }
    python->path = path;
    if (ask(python, (const char *[]){path, "-c", question, NULL}, &output)) {
        cut_version(python, pkb_buf_text(&output), "python ");
        cut_version(torch, pkb_buf_text(&output), "torch ");
        torch->path = torch->version[0] != '\0' ? strdup(path) : NULL;
        cut_word(box->nccl, sizeof box->nccl, pkb_buf_text(&output), "nccl ");
    }
    pkb_buf_clear(&output);
}

static void find_own(pkb_toolbox *box)
{
    for (pkb_tool_id id = PKB_TOOL_TRANSLATOR; id < PKB_TOOL_COUNT; id++) {
        char *path = pkb_fs_join(box->programs, box->tools[id].name);
        if (path != NULL && access(path, X_OK) == 0)
            box->tools[id].path = path;
        else
            free(path);
    }
}

/* The folder of this very program, or $PKBENCH_PROGRAMS. */
static char *program_folder(void)
{
    char program[PATH_MAX];
    const char *named = getenv("PKBENCH_PROGRAMS");
    if (named != NULL)
        return realpath(named, NULL);
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length < 0)
        return NULL;
    program[length] = '\0';
    return strdup(dirname(program));
}

pkb_code pkb_toolbox_open(pkb_toolbox *out, pkb_error *err)
{
    pkb_toolbox box = {0};

    pkb_code rc = pkb_fs_root(&box.root, err);
    if (rc != PKB_OK)
        return rc;
    box.programs = program_folder();
    if (box.programs == NULL) {
        free(box.root);
        return pkb_error_set(err, PKB_ERR_USAGE, 0,
                             "cannot find the folder of pkbench's programs "
                             "(PKBENCH_PROGRAMS)");
    }
    choose_remedies(&box);
    find_python(&box);
    find_nvcc(&box);
    find_in_path(&box);
    find_own(&box);
    /* A tool that was interrupted seems broken. */
    rc = pkb_interrupt_check(err);
    if (rc != PKB_OK) {
        pkb_toolbox_clear(&box);
        return rc;
    }
    *out = box;
    return PKB_OK;
}

void pkb_toolbox_clear(pkb_toolbox *box)
{
    for (size_t i = 0; i < PKB_TOOL_COUNT; i++)
        free(box->tools[i].path);
    free(box->root);
    free(box->programs);
    free(box->toolkit);
    *box = (pkb_toolbox){0};
}

bool pkb_tool_is_fine(const pkb_toolbox *box, pkb_tool_id id)
{
    return box->tools[id].path != NULL && box->tools[id].problem[0] == '\0';
}

pkb_code pkb_toolbox_require(const pkb_toolbox *box, const pkb_tool_id *ids, size_t count,
                             pkb_error *err)
{
    for (size_t i = 0; i < count; i++) {
        const pkb_tool *tool = &box->tools[ids[i]];
        if (pkb_tool_is_fine(box, ids[i]))
            continue;
        if (tool->path == NULL)
            return pkb_error_set(err, PKB_ERR_MISSING, 0, "no %s found: %s", tool->name,
                                 tool->remedy);
        return pkb_error_set(err, PKB_ERR_MISSING, 0, "%s: %s", tool->problem, tool->remedy);
    }
    return PKB_OK;
}

bool pkb_tool_has_gpu(void)
{
    return access("/dev/nvidiactl", F_OK) == 0 || access("/dev/nvidia0", F_OK) == 0;
}

char *pkb_toolbox_path(const pkb_toolbox *box, const char *relative)
{
    return pkb_fs_join(box->root, relative);
}
