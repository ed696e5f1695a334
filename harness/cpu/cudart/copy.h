/* SPDX-License-Identifier: Apache-2.0
 *
 * Making copy and fill operations.
 */
#ifndef PKB_CPU_CUDART_COPY_H
#define PKB_CPU_CUDART_COPY_H

#include "harness/cpu/cudart/op.h"

/* Check the addresses and make the operation. */
cudaError_t pkb_copy_make(const pkb_copy *copy, enum cudaMemcpyKind kind, pkb_op **out);
cudaError_t pkb_copy_make_3d(const struct cudaMemcpy3DParms *p, pkb_op **out);
cudaError_t pkb_fill_make(const pkb_fill *fill, pkb_op **out);

/* A copy of consecutive bytes. */
pkb_copy pkb_copy_of_bytes(void *to, const void *from, size_t bytes);

/* Submits; then waits where the API says that the call is synchronous. */
typedef enum pkb_wait { PKB_ASYNC, PKB_SYNC } pkb_wait;
cudaError_t pkb_copy_submit(const pkb_copy *copy, enum cudaMemcpyKind kind, cudaStream_t stream,
                            pkb_wait wait);

#endif
