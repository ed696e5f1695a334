/* SPDX-License-Identifier: Apache-2.0
 *
 * The judge's command line and the place that mpirun gave it.
 */
#ifndef PKB_HARNESS_JUDGE_OPTIONS_H
#define PKB_HARNESS_JUDGE_OPTIONS_H

#include <stdint.h>

#include "base/error.h"

typedef struct pkb_judge_options {
    const char *work;   /* the evaluator's directory with control.sock */
    const char *python; /* the interpreter of the runner */
    const char *device; /* "cpu" or "cuda" */
    const char *gpus;   /* "0,2-3": which GPU each rank gets; NULL = the first ones */
    const char *cudart; /* NVIDIA's libcudart.so.13, for cells; cuda only */
    const char *root;   /* the project: the runner's directory */
    int gpu;            /* of this rank, as the driver counts; found by pkb_judge_open */
    uint64_t timeout_ns;
    uint32_t rank, world;
} pkb_judge_options;

/* Parses argv (argp: ends the process on --help or a usage error) and the environment of mpirun.
 * Strings are borrowed from argv. */
pkb_code pkb_judge_options_parse(pkb_judge_options *out, int argc, char **argv, pkb_error *err);

#endif
