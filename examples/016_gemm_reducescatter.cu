/* SPDX-License-Identifier: Apache-2.0
 *
 * GEMM + reduce-scatter: C = my R rows of the sum over q of A_q B_q.
 *
 * Layout    A (M,k), B (k,N), C (R,N), row-major bf16, M = P R; k is this rank's share of the inner
 *           dimension. `partial` (M,N) fp32 is symmetric memory and holds this rank's product.
 * Kernels   multiply: partial = A B, one 64x64 tile a block, 4x4 elements a thread.
 *           reduce: C = my rows of all ranks' partials, added up; each sum is made once.
 * Barriers  both in `reduce`. At its start, block b of a peer runs only if that peer's `multiply`
 *           is done, so its partial is complete; at its end nobody reads my partial any more, and
 *           the next call may overwrite it.
 */
#include <cuda_bf16.h>
#include <pkbench.h>
#include <pkbench_device.cuh>

#include "problem.h"

enum { TILE = 64, DEPTH = 16, EACH = 4, SIDE = TILE / EACH, SUM_THREADS = 256, MOST_BLOCKS = 256 };

__global__ void multiply(const __nv_bfloat16 *A, const __nv_bfloat16 *B, float *partial, int64_t M,
                         int64_t N, int64_t K)
{
    __shared__ float a_tile[DEPTH][TILE], b_tile[DEPTH][TILE];
    const int64_t row0 = (int64_t)blockIdx.y * TILE, column0 = (int64_t)blockIdx.x * TILE;
    const int thread = threadIdx.y * SIDE + threadIdx.x;
    float sum[EACH][EACH] = {};

    for (int64_t k0 = 0; k0 < K; k0 += DEPTH) {
        /* Outside the matrices the tiles hold zeros, so odd sizes need no special case below. */
        for (int i = thread; i < DEPTH * TILE; i += SIDE * SIDE) {
            const int64_t row = row0 + i / DEPTH, k = k0 + i % DEPTH;
            a_tile[i % DEPTH][i / DEPTH] =
                row < M && k < K ? __bfloat162float(A[row * K + k]) : 0.0f;
        }
        for (int i = thread; i < DEPTH * TILE; i += SIDE * SIDE) {
            const int64_t k = k0 + i / TILE, column = column0 + i % TILE;
            b_tile[i / TILE][i % TILE] =
                k < K && column < N ? __bfloat162float(B[k * N + column]) : 0.0f;
        }
        __syncthreads();
        for (int k = 0; k < DEPTH; k++)
            for (int i = 0; i < EACH; i++)
                for (int j = 0; j < EACH; j++)
                    sum[i][j] +=
                        a_tile[k][threadIdx.y * EACH + i] * b_tile[k][threadIdx.x * EACH + j];
        __syncthreads();
    }

    for (int i = 0; i < EACH; i++) {
        for (int j = 0; j < EACH; j++) {
            const int64_t row = row0 + threadIdx.y * EACH + i,
                          column = column0 + threadIdx.x * EACH + j;
            if (row < M && column < N)
                partial[row * N + column] = sum[i][j];
        }
    }
}

__global__ void reduce(pkb_peer_table peers, const float *partial, __nv_bfloat16 *C, int64_t count)
{
    pkb_block_barrier(peers);

    const float *mine = partial + peers.rank * count; /* at the same place on every rank */
    const int64_t stride = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride) {
        float sum = 0.0f;
        for (int q = 0; q < peers.world_size; q++)
            sum += pkb_peer(peers, mine, q)[i];
        C[i] = __float2bfloat16(sum);
    }

    pkb_block_barrier(peers);
}

extern "C" int pkb_setup(pkb_world *world, const pkb_args *args, void **state)
{
    *state = pkb_symmetric_alloc(world, (size_t)(args->M * args->N) * sizeof(float));
    return *state == NULL;
}

extern "C" int pkb_run(pkb_world *world, const pkb_args *args, void *state, cudaStream_t stream)
{
    float *partial = (float *)state;
    const int64_t M = args->M, N = args->N, count = args->R * N;
    const dim3 tiles((unsigned)((N + TILE - 1) / TILE), (unsigned)((M + TILE - 1) / TILE));
    const int64_t wanted = (count + SUM_THREADS - 1) / SUM_THREADS;
    const int blocks = (int)(wanted < MOST_BLOCKS ? wanted : MOST_BLOCKS);

    /* Also where my k is 0: then the partial is zeros. */
    multiply<<<tiles, dim3(SIDE, SIDE), 0, stream>>>(args->A, args->B, partial, M, N, args->k);
    reduce<<<blocks, SUM_THREADS, 0, stream>>>(pkb_peers(world), partial, args->C, count);
    return cudaGetLastError();
}
