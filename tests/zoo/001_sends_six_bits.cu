// verdict: WRONG_OUTPUT
// reason: rank \d: output y.*integers inputs
//
// Takes the peers' tensors with six bits of mantissa: an error of one rounding more.
#include <cuda_bf16.h>
#include <pkbench.h>
#include <pkbench_device.cuh>

#include "problem.h"

enum { THREADS = 256, MOST_BLOCKS = 128 };

/* With six bits of mantissa instead of seven. */
__device__ float six_bits(float value)
{
    return __uint_as_float((__float_as_uint(value) + (1u << 16)) & ~0u << 17);
}

__global__ void allreduce(pkb_peer_table peers, const __nv_bfloat16 *x, __nv_bfloat16 *y,
                          int64_t count)
{
    pkb_block_barrier(peers);

    const int64_t stride = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride) {
        float sum = 0.0f;
        for (int q = 0; q < peers.world_size; q++) {
            const float part = __bfloat162float(pkb_peer(peers, x, q)[i]);
            sum += q == peers.rank ? part : six_bits(part);
        }
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
