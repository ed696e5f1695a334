/* SPDX-License-Identifier: Apache-2.0
 *
 * Command lines of the build; see command.h.
 */
#include "evaluator/compile/command.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/fs.h"

enum { MAX_WORDS = 48, MAX_BINDS = 8, TMP_BYTES = 512 << 20, LARGE_BYTES = 6 << 20 };

/* Address space of a compiler, and the largest file that it may write. */
#define MEMORY_LIMIT "--as=12884901888"
#define DEVICE_HEADERS "harness/cpu/device"
#define FILE_LIMIT "--fsize=1073741824"

/* The PTX is kept: it is looked at for every device, and the CPU device takes it. */
static const char *const nvcc_flags[] = {
    "-std=c++17", "-O3",   "-lineinfo", "-cudart",   "none", "-cudadevrt",     "none", "-shared",
    "-Xcompiler", "-fPIC", "-keep",     "-keep-dir", "keep", "-I/pkb/include", NULL};
static const char *const nvcc_ptx_flags[] = {"-gencode", "arch=compute_90a,code=compute_90a",
                                             "--no-compress", NULL};
static const char *const gcc_flags[] = {"-O1",
                                        "-std=gnu11",
                                        "-w",
                                        "-march=x86-64-v3",
                                        "-ffp-contract=off",
                                        "-fno-strict-aliasing",
                                        "-fwrapv",
                                        "-fPIC",
                                        "-shared",
                                        NULL};

/* File names without a folder are in PKB_BUILD_FOLDER, where every command runs. */

/* One command: words that outlive it, and those made for it. */
typedef struct command {
    const char *words[MAX_WORDS];
    size_t count;
    char cpu_limit[48], gencode[64], ptx[512], include[PATH_MAX], device[PATH_MAX];
} command;

static void add(command *to, const char *word)
{
    if (to->count + 1 < MAX_WORDS)
        to->words[to->count++] = word;
    to->words[to->count] = NULL;
}

static void add_all(command *to, const char *const *words)
{
    for (size_t i = 0; words[i] != NULL; i++)
        add(to, words[i]);
}

static int stem_bytes(const char *file_name)
{
    const char *dot = strrchr(file_name, '.');
    return dot != NULL ? (int)(dot - file_name) : (int)strlen(file_name);
}

char *pkb_command_kept(const pkb_compile_options *options, const char *extension)
{
    pkb_buf path = {0};
    pkb_buf_printf(&path, "%s/keep/%.*s.%s", options->directory, stem_bytes(options->file_name),
                   options->file_name, extension);
    return pkb_buf_take(&path);
}

/* The deadline is on the wall clock; the limit on CPU time only catches what escapes it. */
static void add_limits(command *to, const pkb_compile_options *options)
{
    snprintf(to->cpu_limit, sizeof to->cpu_limit, "--cpu=%llu",
             (unsigned long long)(options->timeout_ns / PKB_NS_PER_S + 10) * 2);
    add_all(to, (const char *const[]){"prlimit", MEMORY_LIMIT, FILE_LIMIT, "--core=0",
                                      to->cpu_limit, "--", NULL});
}

/* cudart by its full name: the toolkit from PyPI lacks the link libcudart.so. */
static void add_nvcc(command *to, const pkb_compile_options *options)
{
    const pkb_toolbox *tools = options->tools;
    /* The mark tells a compiler that failed from a sandbox that did not even start it. */
    add_all(to, (const char *const[]){"sh", "-c", ": >started; exec \"$@\"", "sh",
                                      tools->tools[PKB_TOOL_NVCC].path, NULL});
    add_all(to, nvcc_flags);
    if (options->architecture == NULL) {
        add_all(to, nvcc_ptx_flags);
    } else { /* machine code for exactly these GPUs: their driver compiles nothing */
        snprintf(to->gencode, sizeof to->gencode, "arch=compute_%s,code=sm_%s",
                 options->architecture, options->architecture);
        add_all(to, (const char *const[]){"-gencode", to->gencode, NULL});
    }
    add_all(to, (const char *const[]){"-Xlinker", tools->tools[PKB_TOOL_CUDART].path,
                                      options->file_name, "-o", PKB_HOST_NAME, NULL});
}

static void add_translator(command *to, const pkb_compile_options *options)
{
    snprintf(to->ptx, sizeof to->ptx, "keep/%.*s.ptx", stem_bytes(options->file_name),
             options->file_name);
    add_all(to, (const char *const[]){"/pkb/pkbench-ptx2c", to->ptx, "-o", "device.c", NULL});
}

/* gcc -O1 takes minutes for the largest translations; -O0 takes seconds. */
static bool is_large(const pkb_compile_options *options)
{
    struct stat status;
    char *path = pkb_fs_join(options->directory, "device.c");
    bool is_large = path != NULL && stat(path, &status) == 0 && status.st_size > LARGE_BYTES;
    free(path);
    return is_large;
}

static void add_gcc(command *to, const pkb_compile_options *options)
{
    add(to, options->tools->tools[PKB_TOOL_GCC].path);
    add_all(to, gcc_flags);
    /* The emitted C includes device.h, whose own includes are written from the root. */
    snprintf(to->include, sizeof to->include, "-I%s", options->tools->root);
    snprintf(to->device, sizeof to->device, "-I%s/" DEVICE_HEADERS, options->tools->root);
    add_all(to, (const char *const[]){to->include, to->device, NULL});
    if (is_large(options))
        add(to, "-O0"); /* the last one counts */
    add_all(to, (const char *const[]){"device.c", "-o", PKB_DEVICE_NAME, NULL});
}

static void fill(command *to, pkb_step step, const pkb_compile_options *options)
{
    add_limits(to, options);
    switch (step) {
    case PKB_STEP_NVCC:
        add_nvcc(to, options);
        break;
    case PKB_STEP_TRANSLATE:
        add_translator(to, options);
        break;
    case PKB_STEP_GCC:
        add_gcc(to, options);
        break;
    }
}

static bool is_of_system(const char *path)
{
    return strncmp(path, "/usr/", strlen("/usr/")) == 0;
}

static pkb_code start_in_sandbox(pkb_process *process, const command *what,
                                 const pkb_compile_options *options, const char *include,
                                 const char *device, pkb_error *err)
{
    static const char *const environment[] = {"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/tmp",
                                              "TMPDIR=/tmp", "LC_ALL=C", NULL};
    const pkb_toolbox *tools = options->tools;
    const char *toolkit = tools->toolkit, *gcc = tools->tools[PKB_TOOL_GCC].path;
    pkb_sandbox_bind binds[MAX_BINDS];
    size_t count = 0;
    char **argv = NULL;

    binds[count++] = (pkb_sandbox_bind){options->directory, PKB_BUILD_FOLDER, true};
    binds[count++] = (pkb_sandbox_bind){include, PKB_INCLUDE_FOLDER, false};
    binds[count++] = (pkb_sandbox_bind){device, NULL, false};
    binds[count++] =
        (pkb_sandbox_bind){tools->tools[PKB_TOOL_TRANSLATOR].path, "/pkb/pkbench-ptx2c", false};
    if (!is_of_system(toolkit))
        binds[count++] = (pkb_sandbox_bind){toolkit, NULL, false};
    if (!is_of_system(gcc))
        binds[count++] = (pkb_sandbox_bind){gcc, NULL, false};
    const pkb_sandbox_spec spec = {.level = options->level,
                                   .binds = binds,
                                   .bind_count = count,
                                   .environment = environment,
                                   .directory = PKB_BUILD_FOLDER,
                                   .tmp_bytes = TMP_BYTES};
    pkb_code rc = pkb_sandbox_argv(&argv, &spec, what->words, err);
    if (rc == PKB_OK) {
        const pkb_process_options run = {.argv = (const char *const *)argv};
        rc = pkb_process_start(process, &run, err);
    }
    pkb_argv_free(argv);
    return rc;
}

pkb_code pkb_command_start(pkb_process *process, pkb_step step, const pkb_compile_options *options,
                           pkb_error *err)
{
    command what = {0};
    char *include = pkb_toolbox_path(options->tools, "harness/include");
    char *device = pkb_toolbox_path(options->tools, DEVICE_HEADERS);
    pkb_code rc;

    fill(&what, step, options);
    if (include == NULL || device == NULL)
        rc = pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for a command line");
    else
        rc = start_in_sandbox(process, &what, options, include, device, err);
    free(include);
    free(device);
    return rc;
}

static int is_header(const struct dirent *entry)
{
    const char *dot = strrchr(entry->d_name, '.');
    return dot != NULL && (strcmp(dot, ".h") == 0 || strcmp(dot, ".cuh") == 0);
}

static pkb_code add_headers(pkb_hash *hash, const pkb_toolbox *tools, const char *folder,
                            pkb_error *err)
{
    struct dirent **entries = NULL;
    char *path = pkb_toolbox_path(tools, folder);
    pkb_code rc = PKB_OK;
    int count = path != NULL ? scandir(path, &entries, is_header, alphasort) : -1;

    if (count < 0)
        rc = pkb_error_set(err, PKB_ERR_IO, 0, "cannot read the headers in %s", folder);
    for (int i = 0; i < count; i++) {
        char *file = pkb_fs_join(path, entries[i]->d_name);
        pkb_hash_add_text(hash, entries[i]->d_name);
        if (rc == PKB_OK && file != NULL)
            rc = pkb_hash_add_file(hash, file, err);
        free(file);
        free(entries[i]);
    }
    free(entries);
    free(path);
    return rc;
}

pkb_code pkb_command_key(char key[PKB_HASH_HEX_BYTES], const pkb_compile_options *options,
                         pkb_error *err)
{
    const pkb_toolbox *tools = options->tools;
    pkb_hash *hash = NULL;

    pkb_code rc = pkb_hash_create(&hash, err);
    if (rc != PKB_OK)
        return rc;
    pkb_hash_add_text(hash, "without multicast, with log"); /* as compile.c saw to */
    pkb_hash_add_text(hash, options->file_name);
    pkb_hash_add(hash, options->source, options->source_bytes);
    pkb_hash_add_text(hash, options->header);
    pkb_hash_add_text(hash, tools->tools[PKB_TOOL_NVCC].version);
    pkb_hash_add_text(hash, tools->tools[PKB_TOOL_CUDART].path);
    pkb_hash_add_text(hash, tools->tools[PKB_TOOL_GCC].version);
    for (pkb_step step = PKB_STEP_NVCC; step <= PKB_STEP_GCC; step++) {
        command what = {0};
        fill(&what, step, options);
        for (size_t i = 0; i < what.count; i++)
            if (what.words[i] != what.cpu_limit)
                pkb_hash_add_text(hash, what.words[i]);
    }
    rc = pkb_hash_add_file(hash, tools->tools[PKB_TOOL_TRANSLATOR].path, err);
    if (rc == PKB_OK)
        rc = add_headers(hash, tools, "harness/include", err);
    if (rc == PKB_OK)
        rc = add_headers(hash, tools, DEVICE_HEADERS, err);
    if (rc != PKB_OK) {
        pkb_hash_free(hash);
        return rc;
    }
    return pkb_hash_finish(hash, key, err);
}
