// verdict: CRASH
// reason: rank \d.*SIGSEGV.*device pointer
// sizes: tiny
//
// Reads device memory from host code.
#include <cuda_bf16.h>
#include <pkbench.h>
#include <pkbench_device.cuh>

#include "problem.h"

extern "C" int pkb_run(pkb_world *world, const pkb_args *args, void *state, cudaStream_t stream)
{
    return *(volatile const unsigned short *)args->x == 1;
}
