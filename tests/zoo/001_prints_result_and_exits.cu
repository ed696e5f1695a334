// verdict: CRASH
// reason: rank \d.*exited with status 0
//
// Prints what looks like a result and leaves with status 0 before anything is judged.
#include <cuda_bf16.h>
#include <pkbench.h>
#include <stdio.h>
#include <stdlib.h>

#include "problem.h"

struct early {
    early()
    {
        puts("{\"verdict\": \"CORRECT\", \"speedup\": 99.0}");
        fflush(stdout);
        exit(0);
    }
} early;

extern "C" int pkb_run(pkb_world *world, const pkb_args *args, void *state, cudaStream_t stream)
{
    return 0;
}
