/* SPDX-License-Identifier: Apache-2.0
 *
 * What a record says about the machine: its name, and its class, by which results are compared.
 */
#ifndef PKB_EVALUATOR_MACHINE_H
#define PKB_EVALUATOR_MACHINE_H

#include "base/buf.h"
#include "evaluator/machine/gpus.h"
#include "evaluator/machine/tool.h"

void pkb_machine_host(pkb_buf *out);
/* "cpu, AMD EPYC 7B13 x 2, nvcc 13.0.88, gcc 12.2.0, torch 2.13.0", or with GPUs
 * "NVIDIA H200 x 2, NVLink x 18, driver 580.159.04, nvcc 13.0.88, torch 2.11.0". */
void pkb_machine_class(pkb_buf *out, const pkb_toolbox *tools, const pkb_eval_gpus *gpus);

#endif
