/* SPDX-License-Identifier: Apache-2.0
 *
 * The work directory of one evaluation: 0700, with a short path, because a socket's path has 108
 * bytes. It holds a lock for as long as its owner lives; what a killed owner left (the
 * directory, the processes noted in it, sandboxes with it in their command lines) is swept by the
 * next start.
 */
#ifndef PKB_EVALUATOR_WORKDIR_H
#define PKB_EVALUATOR_WORKDIR_H

#include <sys/types.h>

#include "base/error.h"

typedef struct pkb_workdir {
    char *path;  /* NULL = none */
    char id[17]; /* its last component */
    int lock_fd; /* -1 = none */
} pkb_workdir;

#define PKB_WORKDIR_NONE \
    {                    \
        .lock_fd = -1    \
    }

/* Sweeps, then makes <base>/pkbench-<uid>/<id>, where base is $PKBENCH_TMPDIR, else
 * $XDG_RUNTIME_DIR, else /tmp. */
pkb_code pkb_workdir_open(pkb_workdir *out, pkb_error *err);
/* Removes it with all its content, and ends sandboxes that were left behind with it; whatever else
 * was started with it must have ended. */
void pkb_workdir_close(pkb_workdir *workdir);

/* Notes a process, so that a sweep ends it if it outlives us. */
pkb_code pkb_workdir_note(const pkb_workdir *workdir, pid_t pid, pkb_error *err);

/* <path>/<name>, which the caller frees; NULL when out of memory. */
char *pkb_workdir_path(const pkb_workdir *workdir, const char *name);

#endif
