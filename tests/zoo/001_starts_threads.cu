// verdict: RESOURCE_LIMIT
// reason: runs \d+ threads in pkb_setup, the limit is \d+
//
// Starts threads that sleep until the process ends.
#include <cuda_bf16.h>
#include <pkbench.h>
#include <pthread.h>
#include <unistd.h>

#include "problem.h"

__global__ void nothing()
{
}

static void *sleep_on(void *)
{
    for (;;)
        pause();
}

extern "C" int pkb_setup(pkb_world *, const pkb_args *, void **)
{
    pthread_t thread;
    for (int i = 0; i < 700; i++)
        if (pthread_create(&thread, nullptr, sleep_on, nullptr) != 0)
            return i;
    return 0;
}

extern "C" int pkb_run(pkb_world *, const pkb_args *, void *, cudaStream_t stream)
{
    nothing<<<1, 1, 0, stream>>>();
    return 0;
}
