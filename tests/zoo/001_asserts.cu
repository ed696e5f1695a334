// verdict: CRASH
// reason: rank \d.*assert.*001_asserts\.cu:\d+
//
// A device assertion fails.
#include <assert.h>
#include <cuda_bf16.h>
#include <pkbench.h>

#include "problem.h"

__global__ void check(int64_t rows)
{
    assert(rows < 0);
}

extern "C" int pkb_run(pkb_world *world, const pkb_args *args, void *state, cudaStream_t stream)
{
    check<<<1, 1, 0, stream>>>(args->M);
    return cudaGetLastError();
}
