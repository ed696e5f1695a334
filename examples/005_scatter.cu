/* SPDX-License-Identifier: Apache-2.0
 *
 * Scatter: y = x_root[rank], read straight from the root.
 *
 * Layout    x (P,M,N) on rank `root` only, y (M,N) on every rank, dense bf16. On the other ranks
 *           args->x is no input but still an address: the root's x is found from it.
 * Barriers  The first makes sure that the root's x is ready (a kernel starts only when the work
 *           before it on its stream is done), the second that the root returns only when nobody
 *           reads its x any more.
 * Cost      The root's links carry the P-1 slices of the others, once each: the least there is.
 */
#include <cuda_bf16.h>
#include <pkbench.h>
#include <pkbench_device.cuh>

#include "problem.h"

enum { THREADS = 256, MOST_BLOCKS = 256, WORD = sizeof(uint4) / sizeof(__nv_bfloat16) };

__global__ void scatter(pkb_peer_table peers, const __nv_bfloat16 *x, __nv_bfloat16 *y, int root,
                        int64_t count)
{
    pkb_block_barrier(peers);

    const __nv_bfloat16 *mine = pkb_peer(peers, x, root) + peers.rank * count;
    const int64_t first = (int64_t)blockIdx.x * blockDim.x + threadIdx.x,
                  stride = (int64_t)gridDim.x * blockDim.x;
    /* 16 bytes at a time, unless slices of an odd number of elements put mine off that grid. */
    const int64_t words = (uint64_t)mine % sizeof(uint4) == 0 ? count / WORD : 0;

    for (int64_t i = first; i < words; i += stride)
        ((uint4 *)y)[i] = ((const uint4 *)mine)[i];
    for (int64_t i = words * WORD + first; i < count; i += stride)
        y[i] = mine[i];

    pkb_block_barrier(peers);
}

extern "C" int pkb_run(pkb_world *world, const pkb_args *args, void *state, cudaStream_t stream)
{
    const int64_t count = args->M * args->N;
    const int64_t wanted = (count + THREADS * WORD - 1) / (THREADS * WORD);
    /* Every rank launches the same grid, for an empty tensor too: the barriers pair blocks. */
    const int blocks = (int)(wanted < 1 ? 1 : wanted < MOST_BLOCKS ? wanted : MOST_BLOCKS);

    scatter<<<blocks, THREADS, 0, stream>>>(pkb_peers(world), args->x, args->y, (int)args->root,
                                            count);
    return cudaGetLastError();
}
