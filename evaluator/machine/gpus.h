/* SPDX-License-Identifier: Apache-2.0
 *
 * The GPUs of an evaluation: which are used, what code they want, how records name them.
 */
#ifndef PKB_EVALUATOR_GPUS_H
#define PKB_EVALUATOR_GPUS_H

#include <stddef.h>

#include "base/error.h"
#include "harness/cuda/gpu.h"

typedef struct pkb_eval_gpus { /* count 0 = the CPU device */
    size_t count;
    char name[96], link[32];       /* "NVIDIA H200", "NVLink x 18" or "PCIe" */
    char driver[32], version[8];   /* "580.159.04", "13.0" */
    char list[PKB_GPU_TEXT_BYTES]; /* "0,1": by rank, for the judges */
    char architecture[8];          /* "90a", for the compiler */
} pkb_eval_gpus;

/* One GPU a rank, from `list` (NULL = the first ones). PKB_ERR_USAGE where they do not suffice. */
pkb_code pkb_eval_gpus_choose(pkb_eval_gpus *out, const char *list, int world, pkb_error *err);

#endif
