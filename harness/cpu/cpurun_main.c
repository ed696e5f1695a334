/* SPDX-License-Identifier: Apache-2.0
 *
 * pkbench-cpurun [-k DIR] FILE.cu [-- ARGUMENTS]: compiles a CUDA program for the CPU device and
 * runs its own main. Exit status: the program's; 125 when it could not be built; 128 + N when
 * signal N killed it.
 */
#include "base/buf.h"
#include "base/fs.h"
#include "harness/cpu/translator/translator.h"

#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum {
    EXIT_NOT_BUILT = 125,
    ARGUMENTS_MAX = 256,
    LARGE_C_BYTES = 4 << 20,
    PTX_LIMIT_BYTES = 256 << 20
};

typedef struct job {
    const char *source;
    char **arguments;        /* of the program, NULL-terminated */
    char root[PATH_MAX / 2]; /* of the project: headers and build/lib */
    char folder[PATH_MAX / 4];
    char stem[NAME_MAX + 1]; /* FILE without folder and ".cu" */
    char nvcc[PATH_MAX];
    bool is_kept;
} job;

/* ---- running commands ---- */

static pkb_code run(const char *const *command, int *status, pkb_error *err)
{
    pid_t child = 0;
    int failure =
        posix_spawnp(&child, command[0], NULL, NULL, (char *const *)(uintptr_t)command, environ);

    if (failure != 0)
        return pkb_error_set(err, PKB_ERR_MISSING, failure, "cannot start %s: %s", command[0],
                             strerror(failure));
    while (waitpid(child, status, 0) < 0)
        if (errno != EINTR)
            return pkb_error_set_errno(err, PKB_ERR_CHILD, "cannot wait for %s", command[0]);
    return PKB_OK;
}

static pkb_code run_tool(const char *const *command, pkb_error *err)
{
    int status = 0;
    pkb_code rc = run(command, &status, err);

    if (rc == PKB_OK && status != 0)
        rc = pkb_error_set(err, PKB_ERR_CHILD, status, "%s failed", command[0]);
    return rc;
}

/* ---- places ---- */

static pkb_code find_root(job *j, pkb_error *err)
{
    char program[PATH_MAX / 2];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);

    if (length < 0)
        return pkb_error_set_errno(err, PKB_ERR_IO, "cannot find this program's folder");
    program[length] = '\0';
    /* <root>/build/pkbench-cpurun */
    for (int i = 0; i < 2; i++)
        if (strrchr(program, '/') != NULL)
            *strrchr(program, '/') = '\0';
    snprintf(j->root, sizeof j->root, "%s", program);
    return PKB_OK;
}

/* The choice of nvcc is the build's: $PKBENCH_NVCC, PATH, the toolkit, the wheels. */
static pkb_code find_nvcc(job *j, pkb_error *err)
{
    char command[PATH_MAX];

    snprintf(command, sizeof command, "%s/tools/find_nvcc.sh", j->root);
    FILE *pipe = popen(command, "re");
    if (pipe != NULL && fgets(j->nvcc, sizeof j->nvcc, pipe) != NULL)
        j->nvcc[strcspn(j->nvcc, "\n")] = '\0';
    if (pipe == NULL || pclose(pipe) != 0 || j->nvcc[0] == '\0')
        return pkb_error_set(err, PKB_ERR_MISSING, 0, "nvcc not found: set PKBENCH_NVCC");
    return PKB_OK;
}

static pkb_code make_folder(job *j, pkb_error *err)
{
    if (j->is_kept) {
        if (mkdir(j->folder, 0777) != 0 && errno != EEXIST)
            return pkb_error_set_errno(err, PKB_ERR_IO, "cannot create %s", j->folder);
        return PKB_OK;
    }
    snprintf(j->folder, sizeof j->folder, "/tmp/pkbench-cpurun-XXXXXX");
    if (mkdtemp(j->folder) == NULL)
        return pkb_error_set_errno(err, PKB_ERR_IO, "cannot create %s", j->folder);
    return PKB_OK;
}

static void remove_folder(const job *j)
{
    if (!j->is_kept && j->folder[0] != '\0')
        (void)pkb_fs_remove_tree(j->folder, NULL);
}

/* ---- steps ---- */

static pkb_code compile_host(const job *j, pkb_error *err)
{
    char program[PATH_MAX], include[PATH_MAX], library[PATH_MAX];

    snprintf(program, sizeof program, "%s/program", j->folder);
    snprintf(include, sizeof include, "-I%s/harness/include", j->root);
    /* By its full name: the toolkit from PyPI has no libcudart.so to link with, and needs none. */
    snprintf(library, sizeof library, "%s/build/lib/libcudart.so.13", j->root);
    const char *command[] = {
        j->nvcc,   "-std=c++17", "-lineinfo",  "-gencode", "arch=compute_90a,code=compute_90a",
        "-cudart", "none",       "-cudadevrt", "none",     "-Xlinker",
        library,   "-keep",      "-keep-dir",  j->folder,  "--no-compress",
        include,   "-o",         program,      j->source,  "-ldl",
        NULL};
    return run_tool(command, err);
}

static pkb_code translate(const job *j, size_t *c_bytes, pkb_error *err)
{
    char path[PATH_MAX], *ptx = NULL;
    size_t bytes = 0;
    pkb_buf c;

    pkb_buf_init(&c);
    snprintf(path, sizeof path, "%s/%s.ptx", j->folder, j->stem);
    pkb_code rc = pkb_fs_read(path, PTX_LIMIT_BYTES, &ptx, &bytes, err);
    if (rc == PKB_OK)
        rc = pkb_ptx_translate(ptx, bytes, &c, err);
    snprintf(path, sizeof path, "%s/device.c", j->folder);
    if (rc == PKB_OK)
        rc = pkb_fs_write(path, pkb_buf_text(&c), c.bytes, err);
    *c_bytes = c.bytes;
    free(ptx);
    pkb_buf_clear(&c);
    return rc;
}

static pkb_code compile_device(const job *j, size_t c_bytes, pkb_error *err)
{
    char source[PATH_MAX], module[PATH_MAX], include[PATH_MAX];

    snprintf(source, sizeof source, "%s/device.c", j->folder);
    snprintf(module, sizeof module, "%s/device.so", j->folder);
    snprintf(include, sizeof include, "-I%s", j->root);
    const char *command[] = {"gcc",
                             c_bytes > LARGE_C_BYTES ? "-O0" : "-O1",
                             "-std=gnu11",
                             "-w",
                             "-g1",
                             "-march=x86-64-v3",
                             "-ffp-contract=off",
                             "-fno-strict-aliasing",
                             "-fwrapv",
                             "-fPIC",
                             "-shared",
                             include,
                             source,
                             "-o",
                             module,
                             "-lm",
                             NULL};
    return run_tool(command, err);
}

static pkb_code run_program(const job *j, int *status, pkb_error *err)
{
    char program[PATH_MAX], path[PATH_MAX];
    const char *command[ARGUMENTS_MAX] = {program};

    snprintf(program, sizeof program, "%s/program", j->folder);
    snprintf(path, sizeof path, "%s/device.so", j->folder);
    setenv("PKB_CPU_DEVICE_MODULE", path, 1);
    setenv("PKB_CPU_VERBOSE", "1", 0);
    snprintf(path, sizeof path, "%s/build/lib", j->root);
    setenv("LD_LIBRARY_PATH", path, 1);
    for (size_t i = 0; j->arguments[i] != NULL && i + 2 < ARGUMENTS_MAX; i++)
        command[i + 1] = j->arguments[i];
    return run(command, status, err);
}

/* ---- the command line ---- */

static bool parse(job *j, int argc, char **argv)
{
    int option;

    /* "+": options end at FILE. */
    while ((option = getopt(argc, argv, "+k:")) != -1) {
        if (option != 'k')
            return false;
        snprintf(j->folder, sizeof j->folder, "%s", optarg);
        j->is_kept = true;
    }
    if (optind >= argc)
        return false;
    j->source = argv[optind++];
    if (optind < argc && strcmp(argv[optind], "--") == 0)
        optind++;
    j->arguments = argv + optind;

    const char *name = strrchr(j->source, '/');
    name = name != NULL ? name + 1 : j->source;
    const char *dot = strrchr(name, '.');
    snprintf(j->stem, sizeof j->stem, "%.*s", (int)(dot != NULL ? dot - name : (long)strlen(name)),
             name);
    return true;
}

static int exit_status(int status)
{
    if (!WIFSIGNALED(status))
        return WEXITSTATUS(status);
    fprintf(stderr, "pkbench-cpurun: killed by signal %d (%s)\n", WTERMSIG(status),
            strsignal(WTERMSIG(status)));
    return 128 + WTERMSIG(status);
}

int main(int argc, char **argv)
{
    static job j;
    pkb_error err = {0};
    size_t c_bytes = 0;
    int status = 0;

    if (!parse(&j, argc, argv)) {
        fprintf(stderr, "usage: pkbench-cpurun [-k DIR] FILE.cu [-- ARGUMENTS]\n");
        return pkb_code_exit_status(PKB_ERR_USAGE);
    }
    pkb_code rc = find_root(&j, &err);
    if (rc == PKB_OK)
        rc = find_nvcc(&j, &err);
    if (rc == PKB_OK)
        rc = make_folder(&j, &err);
    if (rc == PKB_OK)
        rc = compile_host(&j, &err);
    if (rc == PKB_OK)
        rc = translate(&j, &c_bytes, &err);
    if (rc == PKB_OK)
        rc = compile_device(&j, c_bytes, &err);
    if (rc == PKB_OK)
        rc = run_program(&j, &status, &err);
    remove_folder(&j);
    if (rc != PKB_OK) {
        fprintf(stderr, "pkbench-cpurun: %s: %s\n", j.source, err.message);
        return EXIT_NOT_BUILT;
    }
    return exit_status(status);
}
