/* SPDX-License-Identifier: Apache-2.0
 *
 * Two-hop neighbour sampling. Every rank walks through the whole graph by itself: it reads the
 * columns that it needs from their owners' memory. Keys follow from edge ids, so a node with many
 * edges costs arithmetic, and only chosen edges are read.
 *
 * Layout    colptr and row lie on node i's owner i % P, in column i / P. Scratch of this rank:
 *           place (V), where a node stands in the list, or -1; first (V), the earliest edge of this
 *           hop that leads to it; counts, offsets of frontier or edges; walk, how far the lists
 * are. Until an edge is numbered, out_row has the id of the node that it comes from. Kernels begin:
 * the seeds are the list. A hop: degrees and scan; choose (a warp a node) writes edges; mark tells
 * which edges are the first to lead to a node that is not in the list; scan; append; label. finish:
 * counts out; place and first are as they were before. Barriers  At the start of `begin` all peers'
 * arguments are ready; at the end of `finish` nobody reads mine any more.
 */
#include <pkbench.h>
#include <pkbench_device.cuh>

#include "problem.h"

enum {
    THREADS = 256,
    SCAN_THREADS = 1024,
    MOST_BLOCKS = 256,
    WARP = 32,
    NOWHERE = -1,
    NEVER = 0x7fffffff
};

struct walk { /* the frontier is the list's end; edges of this hop are the last ones */
    int64_t frontier, nodes, hop_edges, edges;
};

struct scratch {
    int32_t *place, *first;
    int64_t *counts; /* of the longer of both lists, and one */
    walk *now;
};

__device__ int64_t thread_of_grid()
{
    return (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
}

__device__ int64_t threads_of_grid()
{
    return (int64_t)gridDim.x * blockDim.x;
}

__device__ uint32_t key_of(int64_t edge, int64_t salt)
{
    uint32_t x = (uint32_t)(edge + salt);
    x = (x ^ (x >> 16)) * 0x85EBCA6Bu;
    x = (x ^ (x >> 13)) * 0xC2B2AE35u;
    return x ^ (x >> 16);
}

/* In place: list[i] becomes the sum of those before it. One block; returns the sum of all. */
__device__ int64_t scan_list(int64_t *list, int64_t count)
{
    __shared__ int64_t sums[SCAN_THREADS];
    const int me = threadIdx.x;
    const int64_t each = (count + SCAN_THREADS - 1) / SCAN_THREADS;
    const int64_t begin = min(count, me * each), end = min(count, begin + each);
    int64_t sum = 0;
    for (int64_t i = begin; i < end; i++)
        sum += list[i];
    sums[me] = sum;
    __syncthreads();
    for (int step = 1; step < SCAN_THREADS; step *= 2) {
        const int64_t left = me >= step ? sums[me - step] : 0;
        __syncthreads();
        sums[me] += left;
        __syncthreads();
    }
    int64_t before = sums[me] - sum;
    for (int64_t i = begin; i < end; i++) {
        const int64_t value = list[i];
        list[i] = before;
        before += value;
    }
    return sums[SCAN_THREADS - 1];
}

__global__ void begin(pkb_peer_table peers, pkb_args args, scratch s)
{
    pkb_block_barrier(peers);
    for (int64_t i = thread_of_grid(); i < args.S; i += threads_of_grid()) {
        args.node[i] = args.seeds[i];
        s.place[args.seeds[i]] = (int32_t)i;
    }
    if (thread_of_grid() == 0)
        *s.now = {0, args.S, 0, 0};
}

__global__ void degrees(pkb_peer_table peers, pkb_args args, scratch s, int64_t k)
{
    const int64_t frontier = s.now->frontier, count = s.now->nodes - frontier;
    for (int64_t i = thread_of_grid(); i < count; i += threads_of_grid()) {
        const int64_t node = args.node[frontier + i];
        const int owner = (int)(node % peers.world_size);
        const int64_t *column = pkb_peer(peers, args.colptr, owner) + node / peers.world_size;
        s.counts[i] = min(k, column[1] - column[0]);
    }
}

__global__ void scan_degrees(scratch s)
{
    const int64_t sum = scan_list(s.counts, s.now->nodes - s.now->frontier);
    if (threadIdx.x == 0) {
        s.now->hop_edges = s.now->edges;
        s.now->edges += sum;
    }
}

/* The k-th smallest key of a node's edges: the smallest above the last one, k times. By a warp. */
__device__ uint32_t kth_key(int64_t first_id, int64_t stride, int64_t degree, int64_t k,
                            int64_t salt)
{
    int64_t last = -1;
    for (int64_t turn = 0; turn < k; turn++) {
        uint32_t least = 0xffffffffu;
        for (int64_t i = threadIdx.x % WARP; i < degree; i += WARP) {
            const uint32_t key = key_of(first_id + i * stride, salt);
            least = key > last ? min(least, key) : least;
        }
        for (int step = WARP / 2; step > 0; step /= 2)
            least = min(least, __shfl_xor_sync(0xffffffffu, least, step));
        last = least;
    }
    return (uint32_t)last;
}

__global__ void choose(pkb_peer_table peers, pkb_args args, scratch s, int64_t k)
{
    const int64_t frontier = s.now->frontier, count = s.now->nodes - frontier;
    const int lane = threadIdx.x % WARP, P = peers.world_size;

    for (int64_t i = thread_of_grid() / WARP; i < count; i += threads_of_grid() / WARP) {
        const int64_t node = args.node[frontier + i];
        const int owner = (int)(node % P);
        const int64_t *column = pkb_peer(peers, args.colptr, owner) + node / P;
        const int64_t *row = pkb_peer(peers, args.row, owner);
        const int64_t start = column[0], degree = column[1] - start, id = start * P + owner;
        const uint32_t most = degree > k ? kth_key(id, P, degree, k, args.salt) : 0xffffffffu;

        int64_t out = s.now->hop_edges + s.counts[i];
        for (int64_t base = 0; base < degree; base += WARP) {
            const int64_t edge = id + (base + lane) * P;
            const bool is_kept = base + lane < degree && key_of(edge, args.salt) <= most;
            const uint32_t kept = __ballot_sync(0xffffffffu, is_kept);
            const int64_t at = out + __popc(kept & ((1u << lane) - 1));
            out += __popc(kept);
            if (!is_kept)
                continue;
            const int64_t source = row[start + base + lane];
            args.out_row[at] = source;
            args.out_col[at] = frontier + i;
            args.out_edge[at] = edge;
            if (s.place[source] == NOWHERE)
                atomicMin(&s.first[source], (int32_t)at);
        }
    }
}

__global__ void mark(pkb_args args, scratch s)
{
    const int64_t hop = s.now->hop_edges;
    for (int64_t e = hop + thread_of_grid(); e < s.now->edges; e += threads_of_grid())
        s.counts[e - hop] = s.first[args.out_row[e]] == e;
}

__global__ void scan_marks(scratch s)
{
    const int64_t count = s.now->edges - s.now->hop_edges;
    const int64_t sum = scan_list(s.counts, count);
    if (threadIdx.x == 0) {
        s.now->frontier = s.now->nodes;
        s.now->nodes += sum;
    }
}

__global__ void append(pkb_args args, scratch s)
{
    const int64_t hop = s.now->hop_edges;
    for (int64_t e = hop + thread_of_grid(); e < s.now->edges; e += threads_of_grid()) {
        const int64_t source = args.out_row[e];
        if (s.first[source] != e)
            continue;
        const int64_t at = s.now->frontier + s.counts[e - hop];
        args.node[at] = source;
        s.place[source] = (int32_t)at;
    }
}

__global__ void label(pkb_args args, scratch s)
{
    const int64_t hop = s.now->hop_edges;
    for (int64_t e = hop + thread_of_grid(); e < s.now->edges; e += threads_of_grid())
        args.out_row[e] = s.place[args.out_row[e]];
}

__global__ void finish(pkb_peer_table peers, pkb_args args, scratch s)
{
    for (int64_t i = thread_of_grid(); i < s.now->nodes; i += threads_of_grid()) {
        s.place[args.node[i]] = NOWHERE;
        s.first[args.node[i]] = NEVER;
    }
    if (thread_of_grid() == 0) {
        *args.node_count = s.now->nodes;
        *args.edge_count = s.now->edges;
    }
    pkb_block_barrier(peers);
}

__global__ void forget(scratch s, int64_t V)
{
    for (int64_t i = thread_of_grid(); i < V; i += threads_of_grid()) {
        s.place[i] = NOWHERE;
        s.first[i] = NEVER;
    }
}

extern "C" int pkb_setup(pkb_world *world, const pkb_args *args, void **state)
{
    scratch *s = new scratch();
    *state = s;
    const size_t V = (size_t)args->V, most = (size_t)(args->most_edges + args->most_nodes);
    if (cudaMalloc((void **)&s->place, V * sizeof(int32_t)) != 0 ||
        cudaMalloc((void **)&s->first, V * sizeof(int32_t)) != 0 ||
        cudaMalloc((void **)&s->counts, (most + 1) * sizeof(int64_t)) != 0 ||
        cudaMalloc((void **)&s->now, sizeof(walk)) != 0)
        return 1;
    forget<<<8, THREADS>>>(*s, args->V);
    return cudaDeviceSynchronize();
}

extern "C" int pkb_run(pkb_world *world, const pkb_args *args, void *state, cudaStream_t stream)
{
    const pkb_peer_table peers = pkb_peers(world);
    const scratch s = *(const scratch *)state;
    const int64_t fanout[2] = {args->k1, args->k2};
    /* The same grid on every rank, however many seeds it has: the barriers pair blocks. */
    const int64_t wanted = (args->V + THREADS - 1) / THREADS;
    const int blocks = (int)(wanted < MOST_BLOCKS ? wanted : MOST_BLOCKS);

    begin<<<blocks, THREADS, 0, stream>>>(peers, *args, s);
    for (int hop = 0; hop < 2; hop++) {
        degrees<<<blocks, THREADS, 0, stream>>>(peers, *args, s, fanout[hop]);
        scan_degrees<<<1, SCAN_THREADS, 0, stream>>>(s);
        choose<<<blocks, THREADS, 0, stream>>>(peers, *args, s, fanout[hop]);
        mark<<<blocks, THREADS, 0, stream>>>(*args, s);
        scan_marks<<<1, SCAN_THREADS, 0, stream>>>(s);
        append<<<blocks, THREADS, 0, stream>>>(*args, s);
        label<<<blocks, THREADS, 0, stream>>>(*args, s);
    }
    finish<<<blocks, THREADS, 0, stream>>>(peers, *args, s);
    return cudaGetLastError();
}

extern "C" void pkb_teardown(pkb_world *world, void *state)
{
    scratch *s = (scratch *)state;
    cudaFree(s->place);
    cudaFree(s->first);
    cudaFree(s->counts);
    cudaFree(s->now);
    delete s;
}
