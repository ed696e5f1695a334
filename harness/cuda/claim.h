/* SPDX-License-Identifier: Apache-2.0
 *
 * An empty kernel. A GPU that several processes share takes a good 100 microseconds to switch to
 * another of them: who launches this and waits for it has the GPU before a clock starts.
 */
#ifndef PKB_HARNESS_CUDA_CLAIM_H
#define PKB_HARNESS_CUDA_CLAIM_H

#include "harness/cuda/driver.h"

typedef struct pkb_claim pkb_claim;

/* Loads it into the current context. */
pkb_code pkb_claim_open(pkb_claim **out, const pkb_driver *driver, pkb_error *err);
/* Launches it on a stream of that context (a CUstream or cudaStream_t); 0 or a CUresult. */
int pkb_claim_launch(const pkb_claim *claim, void *stream);
void pkb_claim_close(pkb_claim *claim); /* NULL is fine */

/* Makes the driver take from the system what it will need for allocations, printf, events and
 * graphs, while everything is still allowed to this process. */
pkb_code pkb_claim_warm_up(const pkb_claim *claim, pkb_error *err);

#endif
