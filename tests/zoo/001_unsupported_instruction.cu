// verdict: UNSUPPORTED
// reason: tex.*001_unsupported_instruction\.cu:\d+
//
// Uses a texture instruction, which the CPU device does not run.
#include <cuda_bf16.h>
#include <pkbench.h>
#include <pkbench_device.cuh>

#include "problem.h"

__global__ void read_texture(cudaTextureObject_t texture, float *out)
{
    *out = tex1Dfetch<float>(texture, 0);
}

extern "C" int pkb_run(pkb_world *world, const pkb_args *args, void *state, cudaStream_t stream)
{
    read_texture<<<1, 1, 0, stream>>>(0, (float *)args->y);
    return cudaGetLastError();
}
