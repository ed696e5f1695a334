/* SPDX-License-Identifier: Apache-2.0
 *
 * out = in of the next rank, with and without the barriers that this needs: test_cell_device
 * chooses by the scalar `mode`, so that one build serves all cases.
 */
#include <pkbench.h>
#include <pkbench_device.cuh>

struct pkb_args {
    const float *in;
    float *out;
    int64_t mode;
    const int64_t *offsets;
    int64_t n, drawn;
};

enum { CORRECT, NO_BARRIER_BEFORE, NO_BARRIER_AFTER, BEYOND_THE_END, LOST_SIGNAL, SPIN };

/* harness/cell/abi.h states the same numbers in C. */
static_assert(sizeof(pkb_peer_table) == 32, "harness/cell/abi.h has another layout");
static_assert(offsetof(pkb_peer_table, signals) == 16, "harness/cell/abi.h has another layout");
static_assert(sizeof(pkb_group_info) == 16, "harness/cell/abi.h has another layout");
static_assert(PKB_SIGNAL_WORDS == (4096 + 2) * 128, "harness/memory/signals.h has another size");

__global__ void ring(pkb_peer_table peers, pkb_args args)
{
    const int next = (peers.rank + 1) % peers.world_size;
    const float *from = pkb_peer(peers, args.in, next);
    const int64_t first = blockIdx.x * blockDim.x + threadIdx.x;

    if (args.mode != NO_BARRIER_BEFORE)
        pkb_block_barrier(peers);
    if (args.mode == NO_BARRIER_AFTER && peers.rank == 1) {
        for (int i = 0; i < 30; i++)
            __nanosleep(1000000);
    }
    for (int64_t i = first; i < args.n; i += gridDim.x * blockDim.x)
        args.out[i] = from[i];
    if (args.mode != NO_BARRIER_AFTER)
        pkb_block_barrier(peers);
}

__global__ void misbehave(pkb_peer_table peers, pkb_args args, uint32_t *word)
{
    if (args.mode == BEYOND_THE_END)
        args.out[(int64_t)1 << 40] = 1;
    else if (args.mode == LOST_SIGNAL)
        pkb_wait(peers, word, 1);
    else
        while (*(volatile uint32_t *)word == 0)
            ;
}

extern "C" int pkb_setup(pkb_world *world, const pkb_args *args, void **state)
{
    *state = pkb_symmetric_alloc(world, 256);
    return *state == nullptr || args->in != nullptr;
}

extern "C" int pkb_run(pkb_world *world, const pkb_args *args, void *state, cudaStream_t stream)
{
    if (args->mode >= BEYOND_THE_END)
        misbehave<<<1, 1, 0, stream>>>(pkb_peers(world), *args, (uint32_t *)state);
    else
        ring<<<2, 64, 0, stream>>>(pkb_peers(world), *args);
    return cudaGetLastError() != cudaSuccess;
}
