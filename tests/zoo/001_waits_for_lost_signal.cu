// verdict: CRASH
// reason: flag at byte 0 of its.*4.5 s.*lost_signal.*block.*thread.*_lost_signal\.cu:16
// options: --timeout 6
//
// Waits with pkb_wait for a signal that nobody sends: the wait gives up by itself and traps at a
// place that can be named.
#include <cuda_bf16.h>
#include <pkbench.h>
#include <pkbench_device.cuh>

#include "problem.h"

/* pkb_wait is bounded by the world's limit, which is shorter than the judge's deadline. */
__global__ void lost_signal(pkb_peer_table peers, uint32_t *word)
{
    pkb_wait(peers, word, 1);
}

extern "C" int pkb_setup(pkb_world *world, const pkb_args *args, void **state)
{
    *state = pkb_symmetric_alloc(world, 256);
    return *state == NULL;
}

extern "C" int pkb_run(pkb_world *world, const pkb_args *args, void *state, cudaStream_t stream)
{
    lost_signal<<<1, 1, 0, stream>>>(pkb_peers(world), (uint32_t *)state);
    return cudaGetLastError();
}
