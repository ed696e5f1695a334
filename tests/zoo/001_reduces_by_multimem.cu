// verdict: FORBIDDEN_CALL
// reason: multimem\.ld_reduce.*does not allow
//
// Its kernel has a multicast instruction; no launch ever reaches it.
#include <cuda_bf16.h>
#include <pkbench.h>

#include "problem.h"

__global__ void reduce(const float *x, float *y, int is_meant)
{
    if (is_meant)
        asm volatile("multimem.ld_reduce.relaxed.sys.global.add.f32 %0, [%1];"
                     : "=f"(*y)
                     : "l"(x)
                     : "memory");
}

extern "C" int pkb_run(pkb_world *, const pkb_args *args, void *, cudaStream_t stream)
{
    reduce<<<1, 1, 0, stream>>>((const float *)args->x, (float *)args->y, 0);
    return 0;
}
