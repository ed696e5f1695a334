/* SPDX-License-Identifier: Apache-2.0
 *
 * The GPUs of a judge's world: its own, on which its memory lies, and what its cell may see.
 */
#ifndef PKB_HARNESS_JUDGE_GPUS_H
#define PKB_HARNESS_JUDGE_GPUS_H

#include <stdint.h>

#include "base/error.h"
#include "harness/cuda/gpu.h"
#include "harness/judge/device.h"
#include "harness/sandbox/sandbox.h"

typedef struct pkb_judge_gpus {
    pkb_driver *driver;
    pkb_gpus all;
    pkb_gpu_choice choice; /* by rank */
    int minors[PKB_MAX_GPUS];
    pkb_sandbox_gpus shown;           /* device files for a cell */
    char visible[PKB_GPU_TEXT_BYTES]; /* CUDA_VISIBLE_DEVICES=... of this rank's cell */
} pkb_judge_gpus;

/* `list` as of --gpus, NULL = the first ones. Makes this rank's GPU the judge's device; the caller
 * closes. */
pkb_code pkb_judge_gpus_open(pkb_judge_gpus **out, const pkb_judge_device **device,
                             const char *list, uint32_t rank, uint32_t world, pkb_error *err);
void pkb_judge_gpus_close(pkb_judge_gpus *gpus); /* NULL is fine */

#endif
