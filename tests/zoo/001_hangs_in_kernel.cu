// verdict: TIMEOUT
// reason: rank \d.*wait_for_ever.*block \(?3.*thread \(?7.*001_hangs_in_kernel\.cu:1[89]
// options: --timeout 3
//
// One thread waits for a flag that never comes; the reason must say which thread of which block
// waits at which line of the attempt.
#include <cuda_bf16.h>
#include <pkbench.h>
#include <pkbench_device.cuh>

#include "problem.h"

__device__ int flag;

__global__ void wait_for_ever()
{
    if (blockIdx.x == 3 && threadIdx.x == 7)
        while (*(volatile int *)&flag == 0)
            __nanosleep(100);
}

extern "C" int pkb_run(pkb_world *world, const pkb_args *args, void *state, cudaStream_t stream)
{
    wait_for_ever<<<4, 32, 0, stream>>>();
    return cudaGetLastError();
}
