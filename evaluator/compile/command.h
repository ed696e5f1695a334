/* SPDX-License-Identifier: Apache-2.0
 *
 * The command lines of the build, run in the sandbox: which tool, which flags, what it may see.
 */
#ifndef PKB_EVALUATOR_COMMAND_H
#define PKB_EVALUATOR_COMMAND_H

#include "base/hash.h"
#include "evaluator/compile/compile.h"

/* Inside the sandbox. */
#define PKB_BUILD_FOLDER "/pkb/build"
#define PKB_INCLUDE_FOLDER "/pkb/include"

/* Names of what is built, in options->directory. */
#define PKB_HOST_NAME "attempt.so"
#define PKB_DEVICE_NAME "attempt.device.so"
/* There as soon as nvcc was started. */
#define PKB_STARTED_NAME "started"

typedef enum pkb_step { PKB_STEP_NVCC, PKB_STEP_TRANSLATE, PKB_STEP_GCC } pkb_step;

/* Starts a step in the sandbox. */
pkb_code pkb_command_start(pkb_process *process, pkb_step step, const pkb_compile_options *options,
                           pkb_error *err);

/* Where nvcc leaves a kept file ("ptx") of the attempt; the caller frees; NULL: out of memory. */
char *pkb_command_kept(const pkb_compile_options *options, const char *extension);

/* Everything that the built files depend on: source, headers, flags, versions, tools. */
pkb_code pkb_command_key(char key[PKB_HASH_HEX_BYTES], const pkb_compile_options *options,
                         pkb_error *err);

#endif
