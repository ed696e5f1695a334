/* SPDX-License-Identifier: Apache-2.0
 *
 * Checking a launch as a GPU does and making the operation.
 */
#ifndef PKB_CPU_CUDART_LAUNCH_H
#define PKB_CPU_CUDART_LAUNCH_H

#include "harness/cpu/cudart/op.h"

typedef struct pkb_launch_request {
    const void *function; /* host function or handle */
    dim3 grid, block, cluster;
    void **arguments;
    size_t shared_bytes;
    bool is_cooperative;
} pkb_launch_request;

cudaError_t pkb_launch_make(const pkb_launch_request *request, pkb_op **out);

#endif
