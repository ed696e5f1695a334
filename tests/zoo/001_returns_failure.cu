// verdict: CRASH
// reason: rank \d.*pkb_run returned 7
//
// Says itself that it failed.
#include <cuda_bf16.h>
#include <pkbench.h>
#include <pkbench_device.cuh>

#include "problem.h"

extern "C" int pkb_run(pkb_world *world, const pkb_args *args, void *state, cudaStream_t stream)
{
    return 7;
}
