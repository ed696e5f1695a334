/* SPDX-License-Identifier: Apache-2.0
 *
 * Builds an attempt for a device: nvcc in the sandbox, which for GPUs is all; for the CPU device
 * then the translator and gcc on its PTX. Built files are cached by everything that they depend on.
 */
#ifndef PKB_EVALUATOR_COMPILE_H
#define PKB_EVALUATOR_COMPILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/verdict.h"
#include "evaluator/machine/process.h"
#include "evaluator/machine/tool.h"
#include "harness/sandbox/sandbox.h"

typedef struct pkb_compile_options {
    const pkb_toolbox *tools;
    pkb_sandbox_level level;
    const char *directory; /* an empty one, which takes what is built */
    const char *file_name; /* what messages and assertions call the source */
    const char *source;
    size_t source_bytes;
    const char *header;       /* the text of problem.h */
    const char *architecture; /* "90a": code for that GPU; NULL = the CPU device */
    uint64_t timeout_ns;
    bool uses_cache;
    bool is_ahead;        /* somebody else looks at the time: it may be paused */
    const pkb_idle *idle; /* called while it works; may be NULL */
    /* Looked at before a compiler is started and after each call of `idle`: while it says no all of
     * them stand still, and no time passes for them. NULL = they may always run */
    bool (*may_run)(void *context);
    void *may_run_context;
} pkb_compile_options;

typedef struct pkb_build {
    bool is_built;       /* otherwise `verdict` and `reason` say why not */
    pkb_verdict verdict; /* COMPILE_ERROR, COMPILE_TIMEOUT, FORBIDDEN_CALL, UNSUPPORTED */
    char *reason;
    char *host, *device; /* absolute paths of the shared objects; GPUs: device NULL, host has all */
    bool was_cached;     /* also a failure may be */
    bool was_killed;     /* something killed a compiler: a lack of memory, or a person */
    pkb_buf log;         /* all that the compilers said */
} pkb_build;

/* An attempt that does not compile is a result, no error; where a compiler was killed, if that
 * happens twice. The caller clears `out` in any case. */
pkb_code pkb_compile(pkb_build *out, const pkb_compile_options *options, pkb_error *err);
/* Sees to it that the cache has what pkb_compile will look for, unless another process is about to.
 * What is no verdict on the source alone (a timeout, a lack of memory) is not stored. */
pkb_code pkb_compile_ahead(const pkb_compile_options *options, pkb_error *err);
void pkb_build_clear(pkb_build *build);

#endif
