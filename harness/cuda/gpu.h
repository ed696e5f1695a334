/* SPDX-License-Identifier: Apache-2.0
 *
 * The GPUs of this machine, and which rank gets which. Indices are those of pkb_driver.
 */
#ifndef PKB_HARNESS_CUDA_GPU_H
#define PKB_HARNESS_CUDA_GPU_H

#include <stddef.h>
#include <stdint.h>

#include "harness/cuda/driver.h"

enum { PKB_MAX_GPUS = 64, PKB_GPU_TEXT_BYTES = 4096 };

typedef struct pkb_gpu {
    char name[96], uuid[48], bus_id[32];
    int minor;      /* of /dev/nvidia<minor>; -1 = unknown */
    int capability; /* 90 means 9.0 */
    uint64_t memory_bytes;
} pkb_gpu;

typedef struct pkb_gpus {
    size_t count;
    pkb_gpu items[PKB_MAX_GPUS];
} pkb_gpus;

typedef struct pkb_gpu_choice { /* rank r works on GPU indices[r] */
    size_t count;
    int indices[PKB_MAX_GPUS];
} pkb_gpu_choice;

/* All that the driver shows. */
pkb_code pkb_gpus_find(pkb_gpus *out, const pkb_driver *driver, pkb_error *err);

/* "0,2-3": indices and ranges, none of them twice. PKB_ERR_USAGE. */
pkb_code pkb_gpu_choice_parse(pkb_gpu_choice *out, const char *list, pkb_error *err);
/* One GPU a rank: the first of `list`, or of all if it is NULL. PKB_ERR_USAGE where there are not
 * enough, or where those chosen are of different kinds. */
pkb_code pkb_gpu_choose(pkb_gpu_choice *out, const pkb_gpus *gpus, const char *list, size_t world,
                        pkb_error *err);
/* PKB_ERR_MISSING unless each of the chosen can use the memory of each other. */
pkb_code pkb_gpu_check_peers(const pkb_driver *driver, const pkb_gpu_choice *choice,
                             pkb_error *err);

/* "0,2,3". */
void pkb_gpu_choice_text(char out[PKB_GPU_TEXT_BYTES], const pkb_gpu_choice *choice);
/* "CUDA_VISIBLE_DEVICES=GPU-...,GPU-...": what a process of `rank` may see, its own GPU as device
 * 0, then its peers' in the order of their ranks. */
void pkb_gpu_visible(char out[PKB_GPU_TEXT_BYTES], const pkb_gpus *gpus,
                     const pkb_gpu_choice *choice, size_t rank);
/* What nvcc calls code for exactly this GPU: "90a", "80". */
void pkb_gpu_architecture(char *out, size_t bytes, int capability);

#endif
