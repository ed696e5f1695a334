// verdict: WRONG_OUTPUT
// reason: rank \d.*output (w|cov|weights)\[\d+\].*limit of 1e-12
//
// Right but for one thing: products of float64 are summed in float32.
#include <pkbench.h>
#include <pkbench_device.cuh>

#include "problem.h"

enum { THREADS = 128, LISTS = 8 };

struct lists {
    int64_t cut[LISTS + 1], square[LISTS + 1];
};

/* One block: gain = C H, and this rank's part of a. */
__global__ void multiply(pkb_args args, lists of, double *part, double *gain)
{
    if (threadIdx.x == 0)
        *part = args.lam * LISTS;
    __syncthreads();
    for (int i = 0; i < LISTS; i++) {
        const int64_t first = of.cut[i], size = of.cut[i + 1] - first;
        for (int64_t r = threadIdx.x; r < size; r += THREADS) {
            float k = 0.0f;
            for (int64_t j = 0; j < size; j++)
                k += (float)(args.cov[of.square[i] + r * size + j] * args.H[first + j]);
            gain[first + r] = k;
            atomicAdd(part, args.H[first + r] * k);
        }
    }
}

/* One block. */
__global__ void step(pkb_peer_table peers, pkb_args args, lists of, double *part, double *gain,
                     int64_t my_first)
{
    pkb_block_barrier(peers);

    double a = 0.0;
    for (int q = 0; q < peers.world_size; q++)
        a += *pkb_peer(peers, part, q);
    for (int64_t i = threadIdx.x; i < args.n; i += THREADS) {
        args.w[i] += args.error / a * gain[i];
        for (int q = 0; q < peers.world_size; q++)
            pkb_peer(peers, args.weights, q)[my_first + i] = args.w[i];
    }
    for (int i = 0; i < LISTS; i++) {
        const int64_t first = of.cut[i], size = of.cut[i + 1] - first;
        for (int64_t e = threadIdx.x; e < size * size; e += THREADS) {
            double *c = args.cov + of.square[i] + e;
            *c = (*c - gain[first + e / size] * gain[first + e % size] / a) / args.lam;
        }
    }

    pkb_block_barrier(peers);
}

extern "C" int pkb_setup(pkb_world *world, const pkb_args *args, void **state)
{
    *state = pkb_symmetric_alloc(world, (size_t)(1 + args->most) * sizeof(double));
    return *state == NULL;
}

extern "C" int pkb_run(pkb_world *world, const pkb_args *args, void *state, cudaStream_t stream)
{
    double *part = (double *)state, *gain = part + 1;
    lists of;
    for (int i = 0; i <= LISTS; i++) {
        of.cut[i] = args->cuts[i];
        of.square[i] = args->squares[i];
    }
    multiply<<<1, THREADS, 0, stream>>>(*args, of, part, gain);
    step<<<1, THREADS, 0, stream>>>(pkb_peers(world), *args, of, part, gain,
                                    args->all_cuts[LISTS * pkb_rank(world)]);
    return cudaGetLastError();
}
