/* SPDX-License-Identifier: Apache-2.0
 *
 * Reduce-scatter: y = rows rank * M ... of x_0 + x_1 + ..., read straight from the peers.
 *
 * Layout    x (P,M,N), that is (P*M,N) cut into a slice for each rank, and y (M,N), dense bf16.
 * Barriers  The first makes sure that every peer's x is ready (a kernel starts only when the work
 *           before it on its stream is done), the second that nobody still reads mine when I
 * return. Cost      Every rank reads its slice of each peer's x: (P-1) M N elements over the links,
 * the least there is, and each sum is made once.
 */
#include <cuda_bf16.h>
#include <pkbench.h>
#include <pkbench_device.cuh>

#include "problem.h"

enum { THREADS = 256, MOST_BLOCKS = 256, WIDE = 8 };

/* WIDTH neighbouring elements, loaded and stored at once where they are aligned. */
template <int WIDTH> struct __align__(WIDTH * sizeof(__nv_bfloat16)) pack
{
    __nv_bfloat16 at[WIDTH];
};

/* Sums packs `begin` ... `end` - 1 of this rank's slice with the whole grid, in fp32 and rounded
 * once: more exact than adding in bf16 at each hop. */
template <int WIDTH>
__device__ void sum_slice(const pkb_peer_table &peers, const __nv_bfloat16 *slice, __nv_bfloat16 *y,
                          int64_t begin, int64_t end)
{
    const int64_t stride = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = begin + (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < end; i += stride) {
        float sum[WIDTH] = {};
        for (int q = 0; q < peers.world_size; q++) {
            const pack<WIDTH> part = ((const pack<WIDTH> *)pkb_peer(peers, slice, q))[i];
            for (int j = 0; j < WIDTH; j++)
                sum[j] += __bfloat162float(part.at[j]);
        }
        pack<WIDTH> total;
        for (int j = 0; j < WIDTH; j++)
            total.at[j] = __float2bfloat16(sum[j]);
        ((pack<WIDTH> *)y)[i] = total;
    }
}

__global__ void reducescatter(pkb_peer_table peers, const __nv_bfloat16 *x, __nv_bfloat16 *y,
                              int64_t count)
{
    pkb_block_barrier(peers);

    const __nv_bfloat16 *slice = x + peers.rank * count; /* at the same place on every rank */
    const bool is_aligned = (uint64_t)slice % sizeof(pack<WIDE>) == 0;
    const int64_t packs = is_aligned ? count / WIDE : 0;
    sum_slice<WIDE>(peers, slice, y, 0, packs);
    sum_slice<1>(peers, slice, y, packs * WIDE, count);

    pkb_block_barrier(peers);
}

extern "C" int pkb_run(pkb_world *world, const pkb_args *args, void *state, cudaStream_t stream)
{
    const int64_t count = args->M * args->N;
    const int64_t wanted = (count + THREADS * WIDE - 1) / (THREADS * WIDE);
    /* Every rank launches the same grid, for an empty tensor too: the barriers pair blocks. */
    const int blocks = (int)(wanted < 1 ? 1 : wanted < MOST_BLOCKS ? wanted : MOST_BLOCKS);

    reducescatter<<<blocks, THREADS, 0, stream>>>(pkb_peers(world), args->x, args->y, count);
    return cudaGetLastError();
}
