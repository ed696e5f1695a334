// verdict: WRONG_OUTPUT
// reason: \by\b
//
// Reads rank 0's x, whoever the root is; on a rank that is not the root there is none.
#include <cuda_bf16.h>
#include <pkbench.h>
#include <pkbench_device.cuh>

#include "problem.h"

enum { THREADS = 256, MOST_BLOCKS = 256, WORD = sizeof(uint4) / sizeof(__nv_bfloat16) };

__global__ void scatter(pkb_peer_table peers, const __nv_bfloat16 *x, __nv_bfloat16 *y,
                        int64_t count)
{
    pkb_block_barrier(peers);

    const __nv_bfloat16 *mine = pkb_peer(peers, x, 0) + peers.rank * count;
    const int64_t first = (int64_t)blockIdx.x * blockDim.x + threadIdx.x,
                  stride = (int64_t)gridDim.x * blockDim.x;
    const int64_t words = (uint64_t)mine % sizeof(uint4) == 0 ? count / WORD : 0;

    for (int64_t i = first; i < words; i += stride)
        ((uint4 *)y)[i] = ((const uint4 *)mine)[i];
    for (int64_t i = words * WORD + first; i < count; i += stride)
        y[i] = mine[i];

    pkb_block_barrier(peers);
}

extern "C" int pkb_run(pkb_world *world, const pkb_args *args, void *state, cudaStream_t stream)
{
    const int64_t count = args->M * args->N;
    const int64_t wanted = (count + THREADS * WORD - 1) / (THREADS * WORD);
    const int blocks = (int)(wanted < 1 ? 1 : wanted < MOST_BLOCKS ? wanted : MOST_BLOCKS);

    scatter<<<blocks, THREADS, 0, stream>>>(pkb_peers(world), args->x, args->y, count);
    return cudaGetLastError();
}
