/* SPDX-License-Identifier: Apache-2.0
 *
 * All-reduce: y = x_0 + x_1 + ... on every rank, read straight from the peers.
 *
 * Layout    x and y (M,N) on every rank, dense, bf16; both are peer-mapped as they are.
 * Barriers  The first makes sure that every peer's x is ready (a kernel starts only when the
 *           work before it on its stream is done), the second that nobody still reads mine
 *           when I return.
 * Cost      Every rank reads the whole x of each peer: (P-1) M N elements over the links, P/2
 *           times what a reduce-scatter with an all-gather would move, but in one step.
 */
#include <cuda_bf16.h>
#include <pkbench.h>
#include <pkbench_device.cuh>

#include "problem.h"

enum { THREADS = 256, MOST_BLOCKS = 128 };

__global__ void allreduce(pkb_peer_table peers, const __nv_bfloat16 *x, __nv_bfloat16 *y,
                          int64_t count)
{
    pkb_block_barrier(peers);

    const int64_t stride = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride) {
        float sum = 0.0f; /* in fp32, rounded once: more exact than adding in bf16 at each hop */
        for (int q = 0; q < peers.world_size; q++)
            sum += __bfloat162float(pkb_peer(peers, x, q)[i]);
        y[i] = __float2bfloat16(sum);
    }

    pkb_block_barrier(peers);
}

extern "C" int pkb_run(pkb_world *world, const pkb_args *args, void *state, cudaStream_t stream)
{
    const int64_t count = args->M * args->N;
    const int64_t wanted = (count + THREADS - 1) / THREADS;
    /* Every rank launches the same grid, for an empty tensor too: the barriers pair blocks. */
    const int blocks = (int)(wanted < 1 ? 1 : wanted < MOST_BLOCKS ? wanted : MOST_BLOCKS);

    allreduce<<<blocks, THREADS, 0, stream>>>(pkb_peers(world), args->x, args->y, count);
    return cudaGetLastError();
}
