// verdict: OUT_OF_BOUNDS
// reason: rank \d.*sum_all.*block.*thread.*001_wild_pointer\.cu:\d+
//
// Reads from an address that nothing is mapped at, as a kernel with a broken index does.
#include <cuda_bf16.h>
#include <pkbench.h>
#include <pkbench_device.cuh>

#include "problem.h"

__global__ void sum_all(pkb_peer_table peers, const __nv_bfloat16 *x, __nv_bfloat16 *y,
                        int64_t count)
{
    pkb_block_barrier(peers);
    for (int64_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count;
         i += gridDim.x * blockDim.x) {
        y[i] = x[i + ((int64_t)1 << 45)];
    }
    pkb_block_barrier(peers);
}

extern "C" int pkb_run(pkb_world *world, const pkb_args *args, void *state, cudaStream_t stream)
{
    sum_all<<<4, 256, 0, stream>>>(pkb_peers(world), args->x, args->y, args->M * args->N);
    return cudaGetLastError();
}
