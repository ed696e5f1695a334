/* SPDX-License-Identifier: Apache-2.0
 *
 * out = in of the next rank, in a process that serves several sizes: set-up fails where a variable,
 * on the host or on the GPU, is not as it lies in this file.
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

enum { BYTES = 512 << 20 };

static int on_host = 7;
__device__ int on_device = 7;

__global__ void ring(pkb_peer_table peers, pkb_args args)
{
    const float *from = pkb_peer(peers, args.in, (peers.rank + 1) % peers.world_size);

    pkb_block_barrier(peers);
    for (int64_t i = blockIdx.x * blockDim.x + threadIdx.x; i < args.n; i += gridDim.x * blockDim.x)
        args.out[i] = from[i];
    pkb_block_barrier(peers);
}

extern "C" int pkb_setup(pkb_world *, const pkb_args *args, void **state)
{
    const int other = 8;
    int found = 0;
    cudaError_t error = cudaMemcpyFromSymbol(&found, on_device, sizeof found);

    if (error == cudaSuccess)
        error = cudaMemcpyToSymbol(on_device, &other, sizeof other);
    if (error == cudaSuccess)
        error = cudaMalloc(state, BYTES);
    if (error != cudaSuccess)
        return 1000 + static_cast<int>(error);
    return found != 7 || on_host++ != 7 ? 1 : 0;
}

extern "C" int pkb_run(pkb_world *world, const pkb_args *args, void *state, cudaStream_t stream)
{
    ring<<<4, 256, 0, stream>>>(pkb_peers(world), *args);
    return cudaMemsetAsync(state, 1, BYTES, stream);
}

extern "C" void pkb_teardown(pkb_world *, void *state)
{
    cudaFree(state);
}
