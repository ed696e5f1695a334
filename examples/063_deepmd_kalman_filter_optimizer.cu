/* SPDX-License-Identifier: Apache-2.0
 *
 * Step of a block-diagonal extended Kalman filter.
 *
 * Layout    Flat lists of L blocks, f64: H and w (n), cov (the b x b matrices), weights (the new w
 *           of all ranks). The host's offsets travel to the kernels in a struct. Symmetric memory:
 *           gain (n), K = C H; partial, H^T K of each block of `multiply`; one word for a.
 * Kernels   multiply: gain and partial, one warp a row of a matrix; local.
 *           exchange: a from all ranks' partials, added in the same order everywhere; the new w,
 *           into my own w and into `weights` of all ranks.
 *           update: cov, one block a row; local.
 * Barriers  Both in `exchange`: at its start the peers' partials are complete and their `weights`
 *           may be written; at its end all ranks have written mine and read my partials.
 */
#include <pkbench.h>
#include <pkbench_device.cuh>

#include "problem.h"

enum { THREADS = 256, WARPS = THREADS / 32, MOST_BLOCKS = 512, LISTS = 8 };

struct lists {
    int64_t cut[LISTS + 1], square[LISTS + 1];
};

/* Row r of all matrices below each other: its first element, the block's first row and size. */
struct row {
    int64_t begin, first, size;
};

__device__ row find_row(const lists &of, int64_t r)
{
    int i = 0;
    while (of.cut[i + 1] <= r)
        i++;
    const int64_t size = of.cut[i + 1] - of.cut[i];
    return {of.square[i] + (r - of.cut[i]) * size, of.cut[i], size};
}

/* The sum over the threads of a block, for all of them, always added in the same order. */
__device__ double sum_in_block(double value)
{
    __shared__ double of_warp[WARPS];
    for (int step = 16; step > 0; step /= 2)
        value += __shfl_xor_sync(~0u, value, step);
    __syncthreads(); /* of an earlier call */
    if (threadIdx.x % 32 == 0)
        of_warp[threadIdx.x / 32] = value;
    __syncthreads();
    double sum = 0.0;
    for (int w = 0; w < WARPS; w++)
        sum += of_warp[w];
    return sum;
}

__global__ void multiply(const double *H, const double *cov, double *gain, double *partial,
                         lists of, int64_t n)
{
    const int lane = threadIdx.x % 32;
    double sum = 0.0;
    for (int64_t r = (int64_t)blockIdx.x * WARPS + threadIdx.x / 32; r < n;
         r += gridDim.x * WARPS) {
        const row at = find_row(of, r);
        double k = 0.0;
        for (int64_t j = lane; j < at.size; j += 32)
            k += cov[at.begin + j] * H[at.first + j];
        for (int step = 16; step > 0; step /= 2)
            k += __shfl_xor_sync(~0u, k, step);
        if (lane == 0) {
            gain[r] = k;
            sum += H[r] * k;
        }
    }
    sum = sum_in_block(sum);
    if (threadIdx.x == 0)
        partial[blockIdx.x] = sum;
}

__global__ void exchange(pkb_peer_table peers, double *w, double *weights, const double *gain,
                         const double *partial, double *a_word, pkb_args args, int64_t my_first)
{
    pkb_block_barrier(peers);

    double a = 0.0;
    for (int q = 0; q < peers.world_size; q++)
        for (int b = threadIdx.x; b < MOST_BLOCKS; b += THREADS)
            a += pkb_peer(peers, partial, q)[b]; /* 0 where no block was launched */
    a = sum_in_block(a) + args.lam * (double)(LISTS * peers.world_size);
    if (blockIdx.x == 0 && threadIdx.x == 0)
        *a_word = a;

    const int64_t stride = (int64_t)gridDim.x * THREADS;
    for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < args.n; i += stride) {
        const double changed = w[i] + args.error / a * gain[i];
        w[i] = changed;
        for (int q = 0; q < peers.world_size; q++)
            pkb_peer(peers, weights, q)[my_first + i] = changed;
    }

    pkb_block_barrier(peers);
}

__global__ void update(double *cov, const double *gain, const double *a_word, double lam, lists of,
                       int64_t n)
{
    const double a = *a_word;
    for (int64_t r = blockIdx.x; r < n; r += gridDim.x) {
        const row at = find_row(of, r);
        const double scaled = gain[r] / a;
        for (int64_t j = threadIdx.x; j < at.size; j += THREADS)
            cov[at.begin + j] = (cov[at.begin + j] - scaled * gain[at.first + j]) / lam;
    }
}

/* Blocks for `work`, the same number on all ranks: the barriers pair them. */
static unsigned blocks_for(int64_t work, int64_t each)
{
    const int64_t wanted = (work + each - 1) / each;
    return (unsigned)(wanted < 1 ? 1 : wanted < MOST_BLOCKS ? wanted : MOST_BLOCKS);
}

extern "C" int pkb_setup(pkb_world *world, const pkb_args *args, void **state)
{
    /* All ranks ask for as much as the one with the most parameters. */
    const size_t words = 1 + MOST_BLOCKS + (size_t)args->most;
    *state = pkb_symmetric_alloc(world, words * sizeof(double));
    return *state == NULL;
}

extern "C" int pkb_run(pkb_world *world, const pkb_args *args, void *state, cudaStream_t stream)
{
    double *a_word = (double *)state, *partial = a_word + 1, *gain = partial + MOST_BLOCKS;
    const int64_t n = args->n, my_first = args->all_cuts[LISTS * pkb_rank(world)];
    lists of;
    for (int i = 0; i <= LISTS; i++) {
        of.cut[i] = args->cuts[i];
        of.square[i] = args->squares[i];
    }

    multiply<<<blocks_for(args->most, WARPS), THREADS, 0, stream>>>(args->H, args->cov, gain,
                                                                    partial, of, n);
    exchange<<<blocks_for(args->most, THREADS), THREADS, 0, stream>>>(
        pkb_peers(world), args->w, args->weights, gain, partial, a_word, *args, my_first);
    update<<<blocks_for(args->most, 4), THREADS, 0, stream>>>(args->cov, gain, a_word, args->lam,
                                                              of, n);
    return cudaGetLastError();
}
