/* SPDX-License-Identifier: Apache-2.0
 *
 * What a process that runs other people's code may see. Builds the bubblewrap command line; the
 * system call filter is the cell's own (filter.h), since it must allow the exec before it.
 */
#ifndef PKB_HARNESS_SANDBOX_H
#define PKB_HARNESS_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

typedef enum pkb_sandbox_level {
    PKB_SANDBOX_NONE,
    PKB_SANDBOX_RESTRICTED,
    PKB_SANDBOX_FULL
} pkb_sandbox_level;

const char *pkb_sandbox_level_name(pkb_sandbox_level level);
pkb_code pkb_sandbox_level_parse(const char *name, pkb_sandbox_level *out, pkb_error *err);

typedef struct pkb_sandbox_bind {
    const char *from, *to; /* `to` NULL = the same path */
    bool writable;
} pkb_sandbox_bind;

/* The GPUs that a program may use: the driver opens every one whose device file it sees. */
typedef struct pkb_sandbox_gpus {
    const int *minors; /* of /dev/nvidia<minor> */
    size_t count;
    const char *driver_folder; /* holds libcuda.so.1; NULL or "" where the loader finds it */
} pkb_sandbox_gpus;

typedef struct pkb_sandbox_spec {
    pkb_sandbox_level level;
    const pkb_sandbox_bind *binds; /* beside /usr, /lib*, /bin and what /etc the loader needs */
    size_t bind_count;
    const char *const *environment; /* NAME=VALUE, NULL-terminated; the child's whole environment */
    const char *directory;          /* working directory inside; NULL = /tmp */
    size_t tmp_bytes;               /* size of the private /tmp; 0 = 64 MiB */
    const pkb_sandbox_gpus *gpus;   /* NULL = none */
} pkb_sandbox_spec;

/* Where `full` is missing there are no binds: words of the command and values of the environment
 * that begin with a bind's `to` are then rewritten to its `from`.
 *
 * A NULL-terminated argv: sandbox prefix followed by `command`. Caller frees with pkb_argv_free. */
pkb_code pkb_sandbox_argv(char ***out, const pkb_sandbox_spec *spec, const char *const *command,
                          pkb_error *err);
void pkb_argv_free(char **argv);

/* pkbench-cell lies beside this program, or above it when this is a test. Caller frees. */
pkb_code pkb_sandbox_find_cell(char **out, pkb_error *err);

/* The strongest level that works here, proved by a canary that tries what must fail. `why` (may be
 * NULL) says what keeps `full` from working. PKB_SANDBOX_NONE is never "found": then
 * PKB_ERR_MISSING with the remedy. */
pkb_code pkb_sandbox_probe(pkb_sandbox_level *out, char *why, size_t why_bytes, pkb_error *err);

#endif
