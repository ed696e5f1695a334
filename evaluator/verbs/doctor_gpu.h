/* SPDX-License-Identifier: Apache-2.0
 *
 * What `pkbench doctor` says about GPUs: driver, each GPU, how they reach each other, and whether
 * PyTorch can use them.
 */
#ifndef PKB_EVALUATOR_DOCTOR_GPU_H
#define PKB_EVALUATOR_DOCTOR_GPU_H

#include <stdbool.h>
#include <stddef.h>

#include "evaluator/machine/tool.h"

typedef struct pkb_doctor_row {
    char name[32];
    bool is_fine;
    char what[512];   /* path and version, or what is wrong */
    char remedy[512]; /* "" = none needed */
} pkb_doctor_row;

/* At most `most` rows (at least 1); returns how many. One row where there is no GPU. */
size_t pkb_doctor_gpus(pkb_doctor_row *rows, size_t most, const pkb_toolbox *tools);

#endif
