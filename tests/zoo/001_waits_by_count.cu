// verdict: WRONG_OUTPUT
// reason: \by\b.*(wait|late|not ready)
//
// Counts its calls and waits for its peers only in the seventh to the tenth, where back-to-back
// calls would come if they always came after six single ones.
#include <cuda_bf16.h>
#include <pkbench.h>
#include <pkbench_device.cuh>

#include "problem.h"

__global__ void allreduce(pkb_peer_table peers, const __nv_bfloat16 *x, __nv_bfloat16 *y,
                          int64_t count, bool waits)
{
    if (waits)
        pkb_block_barrier(peers);
    for (int64_t i = threadIdx.x; i < count; i += blockDim.x) {
        float sum = 0.0f;
        for (int q = 0; q < peers.world_size; q++)
            sum += __bfloat162float(pkb_peer(peers, x, q)[i]);
        y[i] = __float2bfloat16(sum);
    }
    if (waits)
        pkb_block_barrier(peers);
}

extern "C" int pkb_run(pkb_world *world, const pkb_args *args, void *state, cudaStream_t stream)
{
    static int calls = 0;
    const int call = calls++;
    allreduce<<<1, 256, 0, stream>>>(pkb_peers(world), args->x, args->y, args->M * args->N,
                                     call >= 6 && call < 10);
    return cudaGetLastError();
}
