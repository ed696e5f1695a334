// verdict: TIMEOUT
// reason: rank \d.*pkb_run
// options: --timeout 3
//
// Never returns from pkb_run.
#include <cuda_bf16.h>
#include <pkbench.h>
#include <unistd.h>

#include "problem.h"

extern "C" int pkb_run(pkb_world *world, const pkb_args *args, void *state, cudaStream_t stream)
{
    for (;;)
        usleep(1000);
}
