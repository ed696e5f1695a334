// verdict: FORBIDDEN_CALL
// reason: cuMulticastCreate.*does not allow
//
// Would make a multicast object, found by its name. It never comes to that: no rank is below 0.
#include <cuda_bf16.h>
#include <dlfcn.h>
#include <pkbench.h>

#include "problem.h"

__global__ void nothing()
{
}

extern "C" int pkb_run(pkb_world *world, const pkb_args *, void *, cudaStream_t stream)
{
    if (pkb_rank(world) < 0)
        return dlsym(RTLD_DEFAULT, "cuMulticastCreate") == nullptr;
    nothing<<<1, 1, 0, stream>>>();
    return 0;
}
