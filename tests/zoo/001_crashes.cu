// verdict: CRASH
// reason: rank \d.*SIGSEGV.*pkb_run
//
// Writes through a null pointer on the host.
#include <cuda_bf16.h>
#include <pkbench.h>
#include <pkbench_device.cuh>

#include "problem.h"

extern "C" int pkb_run(pkb_world *world, const pkb_args *args, void *state, cudaStream_t stream)
{
    *(volatile int *)nullptr = pkb_rank(world);
    return 0;
}
