/* SPDX-License-Identifier: Apache-2.0
 *
 * docs/tutorial.md, third attempt: every rank sums one slice and hands it to all, 16 bytes at a
 * time.
 */
#include <cuda_bf16.h>
#include <pkbench.h>
#include <pkbench_device.cuh>

#include "problem.h"

enum { PACK = 8 }; /* elements in 16 bytes, the widest load there is */

struct alignas(16) pack {
    __nv_bfloat16 element[PACK];
};

__global__ void allreduce(pkb_peer_table peers, const __nv_bfloat16 *x, __nv_bfloat16 *y,
                          int64_t count)
{
    const int P = peers.world_size;
    const int64_t packs = count / PACK, end = packs * (peers.rank + 1) / P;
    const int64_t thread = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    pkb_block_barrier(peers);

    for (int64_t i = packs * peers.rank / P + thread; i < end;
         i += (int64_t)gridDim.x * blockDim.x) {
        float sum[PACK] = {};
        for (int q = 0; q < P; q++) {
            const pack theirs = ((const pack *)pkb_peer(peers, x, q))[i];
            for (int e = 0; e < PACK; e++)
                sum[e] += __bfloat162float(theirs.element[e]);
        }
        pack result;
        for (int e = 0; e < PACK; e++)
            result.element[e] = __float2bfloat16(sum[e]);
        for (int q = 0; q < P; q++)
            ((pack *)pkb_peer(peers, y, q))[i] = result;
    }

    const int64_t last = packs * PACK + thread; /* what is left over, each rank for itself */
    if (last < count) {
        float sum = 0.0f;
        for (int q = 0; q < P; q++)
            sum += __bfloat162float(pkb_peer(peers, x, q)[last]);
        y[last] = __float2bfloat16(sum);
    }

    pkb_block_barrier(peers);
}

extern "C" int pkb_run(pkb_world *world, const pkb_args *args, void *state, cudaStream_t stream)
{
    const int64_t count = args->M * args->N, wanted = count / (256 * PACK) + 1;
    const unsigned blocks = (unsigned)(wanted < 512 ? wanted : 512);
    allreduce<<<blocks, 256, 0, stream>>>(pkb_peers(world), args->x, args->y, count);
    return cudaGetLastError();
}
