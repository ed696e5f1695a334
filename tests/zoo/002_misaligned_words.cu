// verdict: CRASH
// reason: misaligned|not a multiple of 16
//
// Copies 16 bytes at a time, as if every slice began at a multiple of 16 bytes.
#include <cuda_bf16.h>
#include <pkbench.h>
#include <pkbench_device.cuh>

#include "problem.h"

enum { THREADS = 256, MOST_BLOCKS = 256, WORD = sizeof(uint4) / sizeof(__nv_bfloat16) };

__device__ void copy(__nv_bfloat16 *to, const __nv_bfloat16 *from, int64_t count)
{
    const int64_t first = (int64_t)blockIdx.x * blockDim.x + threadIdx.x,
                  stride = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = first; i < count / WORD; i += stride)
        ((uint4 *)to)[i] = ((const uint4 *)from)[i];
}

__global__ void allgather(pkb_peer_table peers, const __nv_bfloat16 *x, __nv_bfloat16 *y,
                          int64_t count)
{
    pkb_block_barrier(peers);

    for (int i = 0; i < peers.world_size; i++) {
        const int q = (peers.rank + i) % peers.world_size;
        copy(y + q * count, pkb_peer(peers, x, q), count);
    }

    pkb_block_barrier(peers);
}

extern "C" int pkb_run(pkb_world *world, const pkb_args *args, void *state, cudaStream_t stream)
{
    const int64_t count = args->M * args->N;
    const int64_t wanted = (count + THREADS * WORD - 1) / (THREADS * WORD);
    const int blocks = (int)(wanted < 1 ? 1 : wanted < MOST_BLOCKS ? wanted : MOST_BLOCKS);

    allgather<<<blocks, THREADS, 0, stream>>>(pkb_peers(world), args->x, args->y, count);
    return cudaGetLastError();
}
