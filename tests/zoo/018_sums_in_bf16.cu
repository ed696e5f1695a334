// verdict: WRONG_OUTPUT
// reason: rank \d: output y.*integers inputs
//
// Takes the sums of its peers' squares in bf16: a scale that is off by 0.1 % is a smaller error
// than rounding y once.
#include <cuda_bf16.h>
#include <pkbench.h>
#include <pkbench_device.cuh>

#include "problem.h"

enum { THREADS = 256, WARP = 32, WARPS = THREADS / WARP, MOST_BLOCKS = 512 };

__device__ float block_sum(float value)
{
    __shared__ float by_warp[WARPS];
    for (int step = WARP / 2; step > 0; step /= 2)
        value += __shfl_down_sync(0xffffffffu, value, step);
    if (threadIdx.x % WARP == 0)
        by_warp[threadIdx.x / WARP] = value;
    __syncthreads();
    value = 0.0f;
    if (threadIdx.x == 0)
        for (int warp = 0; warp < WARPS; warp++)
            value += by_warp[warp];
    __syncthreads();
    return value;
}

__global__ void sum_squares(const __nv_bfloat16 *x, float *squares, int64_t M, int64_t N)
{
    for (int64_t row = blockIdx.x; row < M; row += gridDim.x) {
        float sum = 0.0f;
        for (int64_t j = threadIdx.x; j < N; j += THREADS) {
            const float value = __bfloat162float(x[row * N + j]);
            sum += value * value;
        }
        sum = block_sum(sum);
        if (threadIdx.x == 0)
            squares[row] = sum;
    }
}

__global__ void normalise(pkb_peer_table peers, const float *squares, const __nv_bfloat16 *x,
                          const __nv_bfloat16 *w, __nv_bfloat16 *y, int64_t M, int64_t N, int64_t H,
                          float eps)
{
    __shared__ float scale;
    pkb_block_barrier(peers);

    for (int64_t row = blockIdx.x; row < M; row += gridDim.x) {
        const bool is_mine = threadIdx.x < peers.world_size;
        const float part = is_mine ? pkb_peer(peers, squares, (int)threadIdx.x)[row] : 0.0f;
        const bool is_own = (int)threadIdx.x == peers.rank;
        const float sum = block_sum(is_own ? part : __bfloat162float(__float2bfloat16(part)));
        if (threadIdx.x == 0)
            scale = rsqrtf(sum / (float)H + eps);
        __syncthreads();
        for (int64_t j = threadIdx.x; j < N; j += THREADS)
            y[row * N + j] =
                __float2bfloat16(__bfloat162float(w[j]) * scale * __bfloat162float(x[row * N + j]));
    }

    pkb_block_barrier(peers);
}

extern "C" int pkb_setup(pkb_world *world, const pkb_args *args, void **state)
{
    *state = pkb_symmetric_alloc(world, (size_t)args->M * sizeof(float));
    return *state == NULL;
}

extern "C" int pkb_run(pkb_world *world, const pkb_args *args, void *state, cudaStream_t stream)
{
    float *squares = (float *)state;
    const int64_t M = args->M;
    const int blocks = (int)(M < 1 ? 1 : M < MOST_BLOCKS ? M : MOST_BLOCKS);

    sum_squares<<<blocks, THREADS, 0, stream>>>(args->x, squares, M, args->N);
    normalise<<<blocks, THREADS, 0, stream>>>(pkb_peers(world), squares, args->x, args->w, args->y,
                                              M, args->N, args->H, (float)args->eps);
    return cudaGetLastError();
}
