/* SPDX-License-Identifier: Apache-2.0
 *
 * Jagged lists of ids move to the ranks that own their features: every rank fetches its own.
 *
 * Layout    lengths (F,B) i64, values (nnz) i64 and weights (nnz) f32 hold the lists feature by
 *           feature; the lists of one feature are one piece of values. Symmetric memory: begin
 *           (F+1) says where a feature's piece begins, batch is this rank's B. Scratch of this
 *           rank: `from` and `to` (K*P+1) and `column` (P+1), for every piece (feature k, source q)
 *           its begin at the source, its begin in the output, and the source's first column.
 * Kernels   measure: sums up the lengths of each feature, a block each.
 *           scan: one block; makes begin out of the sums.
 *           plan: one block; reads the peers' begin and batch, adds up, and writes count.
 *           fetch: copies pieces; several blocks share one.
 * Barriers  At the start of `plan` all peers' `scan` is done and their arguments are ready; at the
 *           end of `fetch` nobody reads my arguments or my begin any more.
 */
#include <pkbench.h>
#include <pkbench_device.cuh>

#include "problem.h"

enum { THREADS = 256, MOST_BLOCKS = 256, SHARES = 32 };

struct scratch {
    int64_t *begin, *batch;      /* symmetric */
    int64_t *from, *to, *column; /* this rank's */
};

/* The sum of `value` over the block's threads, on all of them; and over those before, if wanted. */
__device__ int64_t block_sum(int64_t value, int64_t *before)
{
    __shared__ int64_t sums[THREADS];
    const int me = threadIdx.x;
    sums[me] = value;
    __syncthreads();
    for (int step = 1; step < THREADS; step *= 2) {
        const int64_t left = me >= step ? sums[me - step] : 0;
        __syncthreads();
        sums[me] += left;
        __syncthreads();
    }
    const int64_t total = sums[THREADS - 1];
    if (before != NULL)
        *before = sums[me] - value;
    __syncthreads();
    return total;
}

/* In place: list[i] becomes the sum of those before it, and list[count] of all. One block. */
__device__ int64_t scan_list(int64_t *list, int64_t count)
{
    int64_t done = 0;
    for (int64_t first = 0; first < count; first += THREADS) {
        const int64_t i = first + threadIdx.x;
        int64_t before = 0;
        const int64_t sum = block_sum(i < count ? list[i] : 0, &before);
        if (i < count)
            list[i] = done + before;
        done += sum;
    }
    if (threadIdx.x == 0)
        list[count] = done;
    __syncthreads();
    return done;
}

__global__ void measure(const int64_t *lengths, int64_t F, int64_t B, scratch s)
{
    for (int64_t f = blockIdx.x; f < F; f += gridDim.x) {
        int64_t sum = 0;
        for (int64_t b = threadIdx.x; b < B; b += THREADS)
            sum += lengths[f * B + b];
        sum = block_sum(sum, NULL);
        if (threadIdx.x == 0)
            s.begin[f] = sum;
    }
}

__global__ void scan(int64_t F, int64_t B, scratch s)
{
    scan_list(s.begin, F);
    if (threadIdx.x == 0)
        *s.batch = B;
}

__global__ void plan(pkb_peer_table peers, int64_t first, int64_t K, scratch s, int64_t *count)
{
    const int P = peers.world_size;
    pkb_block_barrier(peers);

    for (int64_t i = threadIdx.x; i < K * P; i += THREADS) {
        const int64_t *begin = pkb_peer(peers, s.begin, (int)(i % P)) + first + i / P;
        s.from[i] = begin[0];
        s.to[i] = begin[1] - begin[0];
    }
    for (int q = threadIdx.x; q < P; q += THREADS)
        s.column[q] = *pkb_peer(peers, s.batch, q);
    __syncthreads();

    const int64_t total = scan_list(s.to, K * P);
    scan_list(s.column, P);
    if (threadIdx.x == 0)
        *count = total;
}

__global__ void fetch(pkb_peer_table peers, pkb_args args, int64_t first, scratch s)
{
    const int P = peers.world_size;

    for (int64_t item = blockIdx.x; item < args.K * P * SHARES; item += gridDim.x) {
        const int64_t piece = item / SHARES, k = piece / P;
        const int q = (int)(piece % P);
        const int64_t start = item % SHARES * THREADS + threadIdx.x, step = SHARES * THREADS;
        const int64_t samples = s.column[q + 1] - s.column[q];
        const int64_t ids = s.to[piece + 1] - s.to[piece];

        const int64_t *lengths = pkb_peer(peers, args.lengths, q) + (first + k) * samples;
        int64_t *out_lengths = args.out_lengths + k * args.batch + s.column[q];
        for (int64_t i = start; i < samples; i += step)
            out_lengths[i] = lengths[i];

        const int64_t *values = pkb_peer(peers, args.values, q) + s.from[piece];
        const float *weights = pkb_peer(peers, args.weights, q) + s.from[piece];
        for (int64_t i = start; i < ids; i += step) {
            args.out_values[s.to[piece] + i] = values[i];
            args.out_weights[s.to[piece] + i] = weights[i];
        }
    }

    pkb_block_barrier(peers);
}

extern "C" int pkb_setup(pkb_world *world, const pkb_args *args, void **state)
{
    const int64_t P = pkb_world_size(world), pieces = args->K * P;
    scratch *s = new scratch();
    *state = s;
    s->begin = (int64_t *)pkb_symmetric_alloc(world, (size_t)(args->F + 1) * sizeof(int64_t));
    s->batch = (int64_t *)pkb_symmetric_alloc(world, sizeof(int64_t));
    if (s->begin == NULL || s->batch == NULL)
        return 1;
    if (cudaMalloc((void **)&s->from, (size_t)(2 * pieces + P + 2) * sizeof(int64_t)) != 0)
        return 1;
    s->to = s->from + pieces;
    s->column = s->to + pieces + 1;
    return 0;
}

extern "C" int pkb_run(pkb_world *world, const pkb_args *args, void *state, cudaStream_t stream)
{
    const pkb_peer_table peers = pkb_peers(world);
    const scratch s = *(const scratch *)state;
    const int64_t first = args->keys[peers.rank];
    /* Every rank launches the same grid, whatever it owns: the barriers pair blocks. */
    const int64_t wanted = (args->F * args->batch + THREADS - 1) / THREADS;
    const int blocks = (int)(wanted < 1 ? 1 : wanted < MOST_BLOCKS ? wanted : MOST_BLOCKS);

    measure<<<blocks, THREADS, 0, stream>>>(args->lengths, args->F, args->B, s);
    scan<<<1, THREADS, 0, stream>>>(args->F, args->B, s);
    plan<<<1, THREADS, 0, stream>>>(peers, first, args->K, s, args->count);
    fetch<<<blocks, THREADS, 0, stream>>>(peers, *args, first, s);
    return cudaGetLastError();
}

extern "C" void pkb_teardown(pkb_world *world, void *state)
{
    scratch *s = (scratch *)state;
    cudaFree(s->from);
    delete s;
}
