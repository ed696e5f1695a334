/* SPDX-License-Identifier: Apache-2.0
 *
 * The project's one error pattern: what can fail returns a pkb_code and fills a pkb_error once,
 * where the fault is first seen. Only `main` functions print. A wrong attempt is a verdict
 * (base/verdict.h), never an error.
 */
#ifndef PKB_BASE_ERROR_H
#define PKB_BASE_ERROR_H

typedef enum pkb_code {
    PKB_OK = 0,
    PKB_ERR_USAGE,      /* the caller asked for something impossible: exit code 2 */
    PKB_ERR_IO,         /* a file, socket or process call failed: exit code 3 */
    PKB_ERR_DISK,       /* results could not be stored: exit code 5 */
    PKB_ERR_MEMORY,     /* out of memory */
    PKB_ERR_FORMAT,     /* malformed data from a file or another process */
    PKB_ERR_CHILD,      /* a process of ours died or broke its protocol */
    PKB_ERR_TIMEOUT,    /* a deadline of our own passed */
    PKB_ERR_CUDA,       /* a CUDA call of the judge failed */
    PKB_ERR_MISSING,    /* a program or library this needs is not installed */
    PKB_ERR_INTERRUPTED /* SIGINT or SIGTERM: exit code 130 */
} pkb_code;

typedef struct pkb_error {
    pkb_code code;
    int detail; /* errno, signal, exit status or CUDA code; 0 = none */
    const char *file;
    int line;
    char message[512]; /* one sentence that names the object, and the remedy where there is one */
} pkb_error;

/* Records the error and returns `code`. `detail`, when it is an errno, is appended in words by
 * pkb_error_set_errno only. `err` may be NULL. A second call overwrites the first. */
#define pkb_error_set(err, code, detail, ...) \
    pkb_error_set_at((err), (code), (detail), 0, __FILE__, __LINE__, __VA_ARGS__)
/* The same with errno as the detail and its text appended: "cannot open x: No such file…". */
#define pkb_error_set_errno(err, code, ...) \
    pkb_error_set_at((err), (code), errno, 1, __FILE__, __LINE__, __VA_ARGS__)

pkb_code pkb_error_set_at(pkb_error *err, pkb_code code, int detail, int detail_is_errno,
                          const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 7, 8)));

/* Stable lower-case name, e.g. "usage". */
const char *pkb_code_name(pkb_code code);

/* Exit code of the pkbench command for an error (docs/design.md, section 10). */
int pkb_code_exit_status(pkb_code code);

#endif
