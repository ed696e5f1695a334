/* SPDX-License-Identifier: Apache-2.0
 *
 * What all attempts of one call share: its options, the problems, and what this machine has.
 */
#ifndef PKB_EVALUATOR_SETTING_H
#define PKB_EVALUATOR_SETTING_H

#include "base/hash.h"
#include "evaluator/attempt/options.h"
#include "evaluator/console/progress.h"
#include "evaluator/machine/gpus.h"
#include "evaluator/machine/process.h"
#include "evaluator/machine/tool.h"
#include "evaluator/problem/catalogue.h"
#include "harness/sandbox/sandbox.h"

typedef struct pkb_setting {
    pkb_eval_options options; /* filled in by the caller */
    pkb_catalogue catalogue;
    pkb_toolbox tools;
    pkb_eval_gpus gpus;
    pkb_sandbox_level level; /* known once the tools were required */
    char *debugger;          /* compute-sanitizer, with --debug; NULL = none */
    const char *logs_in;     /* the folder of a run that takes logs (logs.h); NULL = none */
    pkb_progress progress;
    pkb_idle idle; /* called in every wait for ranks and compilers; of no function: none */
    int wake_fd;   /* ends such a wait for ranks when it can be read; -1 = none */
    /* With idle.context: may a size be timed now? Asked again until it may. NULL = always */
    bool (*may_time)(void *context);
    /* With idle.context: may compilers run now? They stand still as long as they may not. NULL =
     * always */
    bool (*may_compile)(void *context);
} pkb_setting;

/* Chooses the device. */
pkb_code pkb_setting_start(pkb_setting *setting, pkb_error *err);
/* Finds GPUs, problems and tools; none need be complete yet. */
pkb_code pkb_setting_find(pkb_setting *setting, pkb_error *err);
/* The same with another device and world, `given` being the options as they were parsed: for some
 * of the GPUs of `setting`, of which `out` borrows all else. */
pkb_code pkb_setting_vary(pkb_setting *out, const pkb_setting *setting,
                          const pkb_eval_options *given, pkb_error *err);
/* Demands all that judging needs, and chooses the level of the sandbox. */
pkb_code pkb_setting_require(pkb_setting *setting, pkb_error *err);
void pkb_setting_clear(pkb_setting *setting);

/* New 64 hex digits each time; with --seed always those of the seed. */
pkb_code pkb_setting_secret(const pkb_setting *setting, char secret[PKB_HASH_HEX_BYTES],
                            pkb_error *err);

#endif
