// verdict: (WRONG_OUTPUT|STATE_REPLAY)
// reason: rank \d.*\by\b
//
// Computes once, keeps the result, and answers every later call with it.
#include <cuda_bf16.h>
#include <pkbench.h>
#include <pkbench_device.cuh>

#include "problem.h"

__global__ void sum_all(pkb_peer_table peers, const __nv_bfloat16 *x, __nv_bfloat16 *y,
                        int64_t count)
{
    pkb_block_barrier(peers);
    for (int64_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count;
         i += gridDim.x * blockDim.x) {
        float sum = 0.0f;
        for (int q = 0; q < peers.world_size; q++)
            sum += __bfloat162float(pkb_peer(peers, x, q)[i]);
        y[i] = __float2bfloat16(sum);
    }
    pkb_block_barrier(peers);
}

static bool is_cached;
static void *cache;

extern "C" int pkb_run(pkb_world *world, const pkb_args *args, void *state, cudaStream_t stream)
{
    const size_t bytes = args->M * args->N * sizeof *args->y;
    if (is_cached)
        return cudaMemcpyAsync(args->y, cache, bytes, cudaMemcpyDeviceToDevice, stream);
    sum_all<<<4, 256, 0, stream>>>(pkb_peers(world), args->x, args->y, args->M * args->N);
    cudaMalloc(&cache, bytes + 256);
    cudaMemcpyAsync(cache, args->y, bytes, cudaMemcpyDeviceToDevice, stream);
    is_cached = true;
    return cudaGetLastError();
}
