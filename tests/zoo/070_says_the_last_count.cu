// verdict: WRONG_OUTPUT
// reason: rank \d: output count is \d+, expected \d+
//
// Everything is right but count, which is that of the call before: one number that was right
// earlier is wrong, but it is no proof that results were kept.
#include <pkbench.h>
#include <pkbench_device.cuh>

#include "problem.h"

__global__ void tell(int64_t *batch, int64_t B)
{
    *batch = B;
}

__device__ int64_t last_count = -1;

__device__ int64_t exchange(int64_t count)
{
    const int64_t last = last_count;
    last_count = count;
    return last < 0 ? count : last;
}

/* One thread copies all lists, in the order of the output. */
__global__ void fetch(pkb_peer_table peers, pkb_args args, const int64_t *batch, int64_t first)
{
    pkb_block_barrier(peers);

    int64_t done = 0;
    for (int64_t k = 0; threadIdx.x == 0 && k < args.K; k++) {
        int64_t column = 0;
        for (int q = 0; q < peers.world_size; q++) {
            const int64_t B = *pkb_peer(peers, batch, q);
            const int64_t *lengths = pkb_peer(peers, args.lengths, q);
            int64_t from = 0;
            for (int64_t i = 0; i < (first + k) * B; i++)
                from += lengths[i];
            for (int64_t b = 0; b < B; b++) {
                const int64_t length = lengths[(first + k) * B + b];
                args.out_lengths[k * args.batch + column + b] = length;
                for (int64_t i = 0; i < length; i++) {
                    args.out_values[done] = pkb_peer(peers, args.values, q)[from];
                    args.out_weights[done++] = pkb_peer(peers, args.weights, q)[from++];
                }
            }
            column += B;
        }
    }
    if (threadIdx.x == 0)
        *args.count = exchange(done);

    pkb_block_barrier(peers);
}

extern "C" int pkb_setup(pkb_world *world, const pkb_args *args, void **state)
{
    *state = pkb_symmetric_alloc(world, sizeof(int64_t));
    return *state == NULL;
}

extern "C" int pkb_run(pkb_world *world, const pkb_args *args, void *state, cudaStream_t stream)
{
    const pkb_peer_table peers = pkb_peers(world);
    tell<<<1, 1, 0, stream>>>((int64_t *)state, args->B);
    fetch<<<1, 32, 0, stream>>>(peers, *args, (const int64_t *)state, args->keys[peers.rank]);
    return cudaGetLastError();
}
