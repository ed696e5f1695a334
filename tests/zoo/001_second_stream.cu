// verdict: CORRECT
// reason: .*
//
// Works on a stream of its own that waits for the given one and is joined to it by events.
#include <cuda_bf16.h>
#include <pkbench.h>
#include <pkbench_device.cuh>

#include "problem.h"

__global__ void sum_all(pkb_peer_table peers, const __nv_bfloat16 *x, __nv_bfloat16 *y,
                        int64_t count)
{
    pkb_block_barrier(peers);
    for (int64_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count;
         i += gridDim.x * blockDim.x) {
        float sum = 0.0f;
        for (int q = 0; q < peers.world_size; q++)
            sum += __bfloat162float(pkb_peer(peers, x, q)[i]);
        y[i] = __float2bfloat16(sum);
    }
    pkb_block_barrier(peers);
}

struct streams {
    cudaStream_t own;
    cudaEvent_t begin, end;
};

extern "C" int pkb_setup(pkb_world *world, const pkb_args *args, void **state)
{
    streams *s = new streams;
    *state = s;
    return cudaStreamCreateWithFlags(&s->own, cudaStreamNonBlocking) ||
           cudaEventCreateWithFlags(&s->begin, cudaEventDisableTiming) ||
           cudaEventCreateWithFlags(&s->end, cudaEventDisableTiming);
}

extern "C" int pkb_run(pkb_world *world, const pkb_args *args, void *state, cudaStream_t stream)
{
    streams *s = (streams *)state;
    cudaEventRecord(s->begin, stream);
    cudaStreamWaitEvent(s->own, s->begin, 0);
    sum_all<<<4, 256, 0, s->own>>>(pkb_peers(world), args->x, args->y, args->M * args->N);
    cudaEventRecord(s->end, s->own);
    cudaStreamWaitEvent(stream, s->end, 0);
    return cudaGetLastError();
}

extern "C" void pkb_teardown(pkb_world *world, void *state)
{
    streams *s = (streams *)state;
    cudaEventDestroy(s->begin);
    cudaEventDestroy(s->end);
    cudaStreamDestroy(s->own);
    delete s;
}
