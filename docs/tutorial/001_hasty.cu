/* SPDX-License-Identifier: Apache-2.0
 *
 * docs/tutorial.md, first attempt: adds what the peers have, and waits for nobody. Wrong.
 */
#include <cuda_bf16.h>
#include <pkbench.h>

#include "problem.h"

__global__ void allreduce(pkb_peer_table peers, const __nv_bfloat16 *x, __nv_bfloat16 *y,
                          int64_t count)
{
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < count;
         i += (int64_t)gridDim.x * blockDim.x) {
        float sum = 0.0f;
        for (int q = 0; q < peers.world_size; q++)
            sum += __bfloat162float(pkb_peer(peers, x, q)[i]);
        y[i] = __float2bfloat16(sum);
    }
}

extern "C" int pkb_run(pkb_world *world, const pkb_args *args, void *state, cudaStream_t stream)
{
    const int64_t count = args->M * args->N, wanted = count / 256 + 1;
    const unsigned blocks = (unsigned)(wanted < 128 ? wanted : 128);
    allreduce<<<blocks, 256, 0, stream>>>(pkb_peers(world), args->x, args->y, count);
    return cudaGetLastError();
}
