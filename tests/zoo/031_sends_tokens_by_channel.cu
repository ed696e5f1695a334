// verdict: WRONG_OUTPUT
// reason: rank \d: output y.*pick inputs
//
// Sends its tokens to the experts as 8-bit integers with a factor a channel, the largest of a
// rank's tokens: an error of two roundings to bf16. The layouts and kernels are those of the
// example.
#include <cuda_bf16.h>
#include <pkbench.h>
#include <pkbench_device.cuh>
#include <stdlib.h>

#include "problem.h"

enum { TILE = 64, DEPTH = 32, SIDE = 16, EACH = TILE / SIDE, THREADS = SIDE * SIDE };
enum { WARPS = THREADS / 32, MOST_BLOCKS = 528, COMBINE_BLOCKS = 128 };

struct buffers {
    int *count, *list, *first;
    float *weight;
    __nv_bfloat16 *hidden, *back, *sent;
};

/* The k largest logits, their weights, and each of the slots to the owner of its expert. */
__device__ void choose(pkb_peer_table peers, const pkb_args &args, const buffers &own,
                       float *logits, int64_t token)
{
    float sum = 0.0f, best = 0.0f;
    for (int64_t slot = token * args.k; slot < (token + 1) * args.k; slot++) {
        int64_t expert = 0;
        for (int64_t e = 1; e < args.E; e++)
            if (logits[e] > logits[expert])
                expert = e;
        best = slot == token * args.k ? logits[expert] : best;
        own.weight[slot] = expf(logits[expert] - best);
        sum += own.weight[slot];
        logits[expert] = -INFINITY;

        int *list = own.list + (expert % args.L * peers.world_size + peers.rank) * args.Mmax;
        const int place = atomicAdd(&own.count[expert], 1);
        pkb_peer(peers, list, (int)(expert / args.L))[place] = (int)slot;
    }
    for (int64_t slot = token * args.k; slot < (token + 1) * args.k; slot++)
        own.weight[slot] /= sum;
}

__global__ void route(pkb_peer_table peers, pkb_args args, buffers own)
{
    extern __shared__ float logits[];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;

    for (int64_t token = blockIdx.x; token < args.M; token += gridDim.x) {
        for (int64_t e = warp; e < args.E; e += WARPS) {
            float sum = 0.0f;
            for (int64_t n = lane; n < args.N; n += 32)
                sum += __bfloat162float(args.x[token * args.N + n]) *
                       __bfloat162float(args.Wg[e * args.N + n]);
            for (int distance = 16; distance > 0; distance /= 2)
                sum += __shfl_xor_sync(~0u, sum, distance);
            if (lane == 0)
                logits[e] = sum;
        }
        __syncthreads();
        if (threadIdx.x == 0)
            choose(peers, args, own, logits, token);
        __syncthreads();
    }
}

/* My tokens as they are after int8 with a factor a channel, the largest of them all by 127. */
__global__ void code(pkb_args args, buffers own)
{
    const int64_t stride = (int64_t)gridDim.x * blockDim.x, N = args.N;
    for (int64_t n = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; n < N; n += stride) {
        float largest = 0.0f;
        for (int64_t token = 0; token < args.M; token++)
            largest = fmaxf(largest, fabsf(__bfloat162float(args.x[token * N + n])));
        const float unit = largest > 0.0f ? largest / 127.0f : 1.0f;
        for (int64_t token = 0; token < args.M; token++) {
            const float value = __bfloat162float(args.x[token * N + n]);
            own.sent[token * N + n] = __float2bfloat16(rintf(value / unit) * unit);
        }
    }
}

__global__ void meet(pkb_peer_table peers, pkb_args args, buffers own)
{
    const int P = peers.world_size;
    pkb_block_barrier(peers);

    for (int i = threadIdx.x; i < args.L * P; i += blockDim.x)
        own.first[i + 1] = pkb_peer(peers, own.count, i % P)[peers.rank * args.L + i / P];
    __syncthreads();
    if (threadIdx.x == 0) {
        own.first[0] = 0;
        for (int i = 0; i < args.L * P; i++)
            own.first[i + 1] += own.first[i];
    }
}

/* A tile of the products of all my experts: rows from `row` to `end`, columns from `column`. */
struct tile {
    int64_t expert, column;
    int row, end;
};

/* The tile number `index` when each expert's rows give `columns` outputs; false beyond the last. */
__device__ bool find_tile(tile *found, const int *first, int P, int64_t L, int64_t columns,
                          int64_t index)
{
    const int64_t across = (columns + TILE - 1) / TILE;
    for (int64_t expert = 0; expert < L; expert++) {
        const int begin = first[expert * P], end = first[(expert + 1) * P];
        const int64_t tiles = (end - begin + TILE - 1) / TILE * across;
        if (index < tiles) {
            *found = {expert, index % across * TILE, begin + (int)(index / across) * TILE, end};
            return true;
        }
        index -= tiles;
    }
    return false;
}

/* Who asked for row `row` of an expert: returns the slot, and the source rank by `source`. */
__device__ int slot_of(const buffers &own, const tile &t, int row, int P, int64_t Mmax, int *source)
{
    int64_t segment = t.expert * P;
    while (own.first[segment + 1] <= row)
        segment++;
    *source = (int)(segment % P);
    return own.list[segment * Mmax + row - own.first[segment]];
}

/* sum += A B^T of one tile. A's and B's rows lie K elements wide wherever a_row and b_row point;
 * NULL stands for a row of zeros. A thread has every 16th row and column. */
__device__ void multiply(const __nv_bfloat16 *const *a_row, const __nv_bfloat16 *const *b_row,
                         int64_t K, float (*sum)[EACH])
{
    __shared__ float a_tile[DEPTH][TILE + 1], b_tile[DEPTH][TILE + 1]; /* + 1: no bank conflicts */
    const int x = threadIdx.x % SIDE, y = threadIdx.x / SIDE;

    for (int64_t k0 = 0; k0 < K; k0 += DEPTH) {
        for (int i = threadIdx.x; i < TILE * DEPTH; i += THREADS) {
            const int row = i / DEPTH, k = i % DEPTH;
            const bool is_inside = k0 + k < K;
            const __nv_bfloat16 *a = a_row[row], *b = b_row[row];
            a_tile[k][row] = is_inside && a != NULL ? __bfloat162float(a[k0 + k]) : 0.0f;
            b_tile[k][row] = is_inside && b != NULL ? __bfloat162float(b[k0 + k]) : 0.0f;
        }
        __syncthreads();
        for (int k = 0; k < DEPTH; k++)
            for (int i = 0; i < EACH; i++)
                for (int j = 0; j < EACH; j++)
                    sum[i][j] += a_tile[k][y + SIDE * i] * b_tile[k][x + SIDE * j];
        __syncthreads();
    }
}

__global__ void widen(pkb_peer_table peers, pkb_args args, buffers own)
{
    __shared__ const __nv_bfloat16 *token[TILE], *gate[TILE], *up[TILE];
    const int P = peers.world_size, i = threadIdx.x;
    const int64_t N = args.N, H = args.H;
    tile t;

    for (int64_t at = blockIdx.x; find_tile(&t, own.first, P, args.L, H, at); at += gridDim.x) {
        if (i < TILE) {
            const int64_t row = t.expert * H + t.column + i;
            const bool is_inside = t.column + i < H;
            int source = 0;
            token[i] = NULL;
            if (t.row + i < t.end) {
                const int slot = slot_of(own, t, t.row + i, P, args.Mmax, &source);
                const bool is_own = source == peers.rank;
                token[i] = is_own ? args.x : pkb_peer(peers, own.sent, source);
                token[i] += slot / args.k * N;
            }
            gate[i] = is_inside ? args.gate + row * N : NULL;
            up[i] = is_inside ? args.up + row * N : NULL;
        }
        __syncthreads();
        float g[EACH][EACH] = {}, u[EACH][EACH] = {};
        multiply(token, gate, N, g);
        multiply(token, up, N, u);
        for (int e = 0; e < EACH * EACH; e++) {
            const int64_t row = t.row + i / SIDE + SIDE * (e / EACH),
                          column = t.column + i % SIDE + SIDE * (e % EACH);
            const float z = g[e / EACH][e % EACH];
            if (row < t.end && column < H)
                own.hidden[row * H + column] =
                    __float2bfloat16(z / (1.0f + expf(-z)) * u[e / EACH][e % EACH]);
        }
        __syncthreads(); /* nobody still needs the pointers of this tile */
    }
}

__global__ void narrow(pkb_peer_table peers, pkb_args args, buffers own)
{
    __shared__ const __nv_bfloat16 *hidden[TILE], *down[TILE];
    __shared__ __nv_bfloat16 *result[TILE];
    const int P = peers.world_size, i = threadIdx.x;
    const int64_t N = args.N, H = args.H;
    tile t;

    for (int64_t at = blockIdx.x; find_tile(&t, own.first, P, args.L, N, at); at += gridDim.x) {
        if (i < TILE) {
            int source = 0;
            hidden[i] = NULL;
            if (t.row + i < t.end) {
                const int slot = slot_of(own, t, t.row + i, P, args.Mmax, &source);
                result[i] = pkb_peer(peers, own.back, source) + slot * N;
                hidden[i] = own.hidden + (t.row + i) * H;
            }
            down[i] = t.column + i < N ? args.down + (t.expert * N + t.column + i) * H : NULL;
        }
        __syncthreads();
        float v[EACH][EACH] = {};
        multiply(hidden, down, H, v);
        for (int e = 0; e < EACH * EACH; e++) {
            const int row = i / SIDE + SIDE * (e / EACH);
            const int64_t column = t.column + i % SIDE + SIDE * (e % EACH);
            if (t.row + row < t.end && column < N)
                result[row][column] = __float2bfloat16(v[e / EACH][e % EACH]);
        }
        __syncthreads();
    }
}

__global__ void combine(pkb_peer_table peers, pkb_args args, buffers own)
{
    pkb_block_barrier(peers);

    const int64_t stride = (int64_t)gridDim.x * blockDim.x, N = args.N;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < args.M * N; i += stride) {
        float sum = 0.0f;
        for (int64_t slot = i / N * args.k; slot < (i / N + 1) * args.k; slot++)
            sum += own.weight[slot] * __bfloat162float(own.back[slot * N + i % N]);
        args.y[i] = __float2bfloat16(sum);
    }
}

extern "C" int pkb_setup(pkb_world *world, const pkb_args *args, void **state)
{
    const int64_t P = pkb_world_size(world), slots = args->Mmax * args->k;
    /* No token is dropped, so I must have room for all tokens of all ranks. */
    const int64_t most_rows = P * args->Mmax * (args->k < args->L ? args->k : args->L);
    buffers *own = (buffers *)calloc(1, sizeof *own);

    if (own == NULL)
        return 1;
    *state = own;
    own->count = (int *)pkb_symmetric_alloc(world, args->E * sizeof(int));
    own->list = (int *)pkb_symmetric_alloc(world, args->E * args->Mmax * sizeof(int));
    own->back = (__nv_bfloat16 *)pkb_symmetric_alloc(world, slots * args->N * 2);
    own->sent = (__nv_bfloat16 *)pkb_symmetric_alloc(world, args->Mmax * args->N * 2);
    if (own->count == NULL || own->list == NULL || own->back == NULL || own->sent == NULL)
        return 1;
    return cudaMalloc(&own->weight, slots * sizeof(float)) != cudaSuccess ||
           cudaMalloc(&own->first, (args->L * P + 1) * sizeof(int)) != cudaSuccess ||
           cudaMalloc(&own->hidden, most_rows * args->H * 2) != cudaSuccess;
}

extern "C" int pkb_run(pkb_world *world, const pkb_args *args, void *state, cudaStream_t stream)
{
    const pkb_peer_table peers = pkb_peers(world);
    const buffers own = *(const buffers *)state;
    const size_t logits_bytes = args->E * sizeof(float);

    cudaMemsetAsync(own.count, 0, args->E * sizeof(int), stream);
    route<<<MOST_BLOCKS, THREADS, logits_bytes, stream>>>(peers, *args, own);
    code<<<16, THREADS, 0, stream>>>(*args, own);
    meet<<<1, THREADS, 0, stream>>>(peers, *args, own);
    widen<<<MOST_BLOCKS, THREADS, 0, stream>>>(peers, *args, own);
    narrow<<<MOST_BLOCKS, THREADS, 0, stream>>>(peers, *args, own);
    combine<<<COMBINE_BLOCKS, THREADS, 0, stream>>>(peers, *args, own);
    return cudaGetLastError();
}

extern "C" void pkb_teardown(pkb_world *world, void *state)
{
    buffers *own = (buffers *)state;
    cudaFree(own->weight);
    cudaFree(own->first);
    cudaFree(own->hidden);
    free(own);
}
