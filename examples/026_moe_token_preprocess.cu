/* SPDX-License-Identifier: Apache-2.0
 *
 * Token counts for expert-parallel dispatch: how many tokens go where, in exact integers.
 *
 * Layout    choice (M,k) i32, M may differ by rank; count (E) i64 is symmetric memory: how
 *           often this rank's tokens chose each expert.
 *           Outputs: send (P), recv (P), mine (P,L), tot (L), all i64.
 * Kernels   clear: count = 0.
 *           tally: a histogram in shared memory per block, added to count.
 *           exchange: one block; reads the peers' counts of my experts and adds them up.
 * Barriers  Both in `exchange`: at its start the peers' `tally` is done, so their counts are
 *           complete; at its end nobody reads my counts any more, and the next call may clear
 *           them.
 */
#include <pkbench.h>
#include <pkbench_device.cuh>

#include "problem.h"

enum { THREADS = 256, MOST_BLOCKS = 128 };

__global__ void clear(unsigned long long *count, int64_t E)
{
    for (int64_t e = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; e < E;
         e += (int64_t)gridDim.x * blockDim.x)
        count[e] = 0;
}

__global__ void tally(const int32_t *choice, unsigned long long *count, int64_t choices, int64_t E)
{
    extern __shared__ unsigned int in_block[];
    for (int64_t e = threadIdx.x; e < E; e += blockDim.x)
        in_block[e] = 0;
    __syncthreads();

    const int64_t stride = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < choices; i += stride)
        atomicAdd(&in_block[choice[i]], 1u);
    __syncthreads();

    for (int64_t e = threadIdx.x; e < E; e += blockDim.x)
        if (in_block[e] != 0)
            atomicAdd(&count[e], (unsigned long long)in_block[e]);
}

__global__ void exchange(pkb_peer_table peers, const unsigned long long *count, int64_t *send,
                         int64_t *recv, int64_t *mine, int64_t *tot, int64_t L)
{
    const int P = peers.world_size;
    pkb_block_barrier(peers);

    /* mine[q][l]: how often rank q chose my expert l; send: my choices by the rank they go to. */
    for (int64_t i = threadIdx.x; i < P * L; i += blockDim.x)
        mine[i] = (int64_t)pkb_peer(peers, count, (int)(i / L))[peers.rank * L + i % L];
    for (int d = threadIdx.x; d < P; d += blockDim.x) {
        send[d] = 0;
        for (int64_t l = 0; l < L; l++)
            send[d] += (int64_t)count[d * L + l];
    }
    __syncthreads();

    for (int q = threadIdx.x; q < P; q += blockDim.x) {
        recv[q] = 0;
        for (int64_t l = 0; l < L; l++)
            recv[q] += mine[q * L + l];
    }
    for (int64_t l = threadIdx.x; l < L; l += blockDim.x) {
        tot[l] = 0;
        for (int q = 0; q < P; q++)
            tot[l] += mine[q * L + l];
    }

    pkb_block_barrier(peers);
}

extern "C" int pkb_setup(pkb_world *world, const pkb_args *args, void **state)
{
    *state = pkb_symmetric_alloc(world, (size_t)args->E * sizeof(unsigned long long));
    return *state == NULL;
}

extern "C" int pkb_run(pkb_world *world, const pkb_args *args, void *state, cudaStream_t stream)
{
    unsigned long long *count = (unsigned long long *)state;
    const int64_t choices = args->M * args->k;
    const int64_t wanted = (choices + THREADS - 1) / THREADS;
    const unsigned blocks = (unsigned)(wanted < MOST_BLOCKS ? wanted : MOST_BLOCKS);

    clear<<<1, THREADS, 0, stream>>>(count, args->E);
    if (blocks > 0)
        tally<<<blocks, THREADS, (size_t)args->E * sizeof(unsigned), stream>>>(args->choice, count,
                                                                               choices, args->E);
    exchange<<<1, THREADS, 0, stream>>>(pkb_peers(world), count, args->send, args->recv, args->mine,
                                        args->tot, args->L);
    return cudaGetLastError();
}
