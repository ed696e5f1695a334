// verdict: WRONG_OUTPUT
// reason: rank \d.*(loss|dlogits).*(inf|nan|offset|huge)
//
// Sums exp(logit) as it is: right on nominal inputs, but float32 overflows where logits are large.
#include <cuda_bf16.h>
#include <pkbench.h>
#include <pkbench_device.cuh>

#include "problem.h"

enum { THREADS = 64 };

__global__ void summarise(pkb_args args, float *share)
{
    __shared__ float total;
    float sum = 0.0f;
    if (threadIdx.x == 0)
        total = 0.0f;
    __syncthreads();
    for (int64_t c = threadIdx.x; c < args.n; c += THREADS)
        sum += expf(__bfloat162float(args.logits[blockIdx.x * args.n + c]));
    atomicAdd(&total, sum);
    __syncthreads();
    if (threadIdx.x == 0)
        share[blockIdx.x] = total;
}

__global__ void finish(pkb_peer_table peers, pkb_args args, const float *share)
{
    pkb_block_barrier(peers);

    const int64_t t = blockIdx.x, v = args.target[t], first = peers.rank * args.n;
    const bool is_off = v < 0 || v >= args.V || v == args.ignore;
    float sum = 0.0f;
    for (int q = 0; q < peers.world_size; q++)
        sum += pkb_peer(peers, share, q)[t];
    for (int64_t c = threadIdx.x; c < args.n; c += THREADS) {
        const float p = expf(__bfloat162float(args.logits[t * args.n + c])) / sum;
        const float d = args.dloss[t] * (p - (first + c == v ? 1.0f : 0.0f));
        args.dlogits[t * args.n + c] = __float2bfloat16(is_off ? 0.0f : d);
    }
    if (threadIdx.x == 0 && is_off) {
        args.loss[t] = 0.0f;
    } else if (threadIdx.x == 0) {
        const __nv_bfloat16 *owners = pkb_peer(peers, args.logits, (int)(v / args.n));
        args.loss[t] = logf(sum) - __bfloat162float(owners[t * args.n + v % args.n]);
    }

    pkb_block_barrier(peers);
}

extern "C" int pkb_setup(pkb_world *world, const pkb_args *args, void **state)
{
    *state = pkb_symmetric_alloc(world, (size_t)args->T * sizeof(float));
    return *state == NULL;
}

extern "C" int pkb_run(pkb_world *world, const pkb_args *args, void *state, cudaStream_t stream)
{
    summarise<<<(unsigned)args->T, THREADS, 0, stream>>>(*args, (float *)state);
    finish<<<(unsigned)args->T, THREADS, 0, stream>>>(pkb_peers(world), *args, (float *)state);
    return cudaGetLastError();
}
