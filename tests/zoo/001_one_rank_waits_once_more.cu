// verdict: CRASH
// reason: rank 0.*rank 1 never came to this barrier within 4.5 s.*_once_more\.cu:27
// options: --timeout 6
//
// Rank 0 waits once more than its peers: what is inlined from the header counts for the barrier
// that it is in, and the reason names the rank that did not come.
#include <cuda_bf16.h>
#include <pkbench.h>
#include <pkbench_device.cuh>

#include "problem.h"

__global__ void allreduce(pkb_peer_table peers, const __nv_bfloat16 *x, __nv_bfloat16 *y,
                          int64_t count)
{
    if (peers.rank == 0)
        pkb_block_barrier(peers);

    for (int64_t i = threadIdx.x; i < count; i += blockDim.x) {
        float sum = 0.0f;
        for (int q = 0; q < peers.world_size; q++)
            sum += __bfloat162float(pkb_peer(peers, x, q)[i]);
        y[i] = __float2bfloat16(sum);
    }

    /* Here rank 1 meets the first barrier of rank 0, and nobody the second. */
    pkb_block_barrier(peers);
}

extern "C" int pkb_run(pkb_world *world, const pkb_args *args, void *state, cudaStream_t stream)
{
    allreduce<<<1, 256, 0, stream>>>(pkb_peers(world), args->x, args->y, args->M * args->N);
    return cudaGetLastError();
}
