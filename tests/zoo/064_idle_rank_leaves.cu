// verdict: CRASH
// reason: rank 1: .*a wait gave up: rank 0 never came to this barrier
// options: --timeout 4
//
// A rank without seeds sees no work for itself and returns at once. Its peers still need its
// columns and wait for it.
#include <pkbench.h>
#include <pkbench_device.cuh>

#include "problem.h"

__device__ uint32_t key_of(int64_t edge, int64_t salt)
{
    uint32_t x = (uint32_t)(edge + salt);
    x = (x ^ (x >> 16)) * 0x85EBCA6Bu;
    x = (x ^ (x >> 13)) * 0xC2B2AE35u;
    return x ^ (x >> 16);
}

/* Where a node stands in the list; if nowhere, at its end. */
__device__ int64_t place_of(int64_t *list, int64_t *count, int64_t node)
{
    for (int64_t i = 0; i < *count; i++)
        if (list[i] == node)
            return i;
    list[*count] = node;
    return (*count)++;
}

/* One thread does a hop: every node of the frontier takes the edges that few others are before. */
__device__ void hop(const pkb_peer_table &peers, const pkb_args &args, int64_t k, int64_t frontier,
                    int64_t *nodes, int64_t *edges)
{
    const int64_t P = peers.world_size, end = *nodes;
    for (int64_t c = frontier; c < end; c++) {
        const int owner = (int)(args.node[c] % P);
        const int64_t *column = pkb_peer(peers, args.colptr, owner) + args.node[c] / P;
        for (int64_t p = column[0]; p < column[1]; p++) {
            int64_t before = 0;
            for (int64_t o = column[0]; o < column[1]; o++)
                before += key_of(o * P + owner, args.salt) < key_of(p * P + owner, args.salt);
            if (before >= k)
                continue;
            args.out_row[*edges] = place_of(args.node, nodes, pkb_peer(peers, args.row, owner)[p]);
            args.out_col[*edges] = c;
            args.out_edge[(*edges)++] = p * P + owner;
        }
    }
}

__global__ void sample(pkb_peer_table peers, pkb_args args)
{
    pkb_block_barrier(peers);
    if (threadIdx.x == 0) {
        int64_t nodes = args.S, edges = 0;
        for (int64_t i = 0; i < args.S; i++)
            args.node[i] = args.seeds[i];
        hop(peers, args, args.k1, 0, &nodes, &edges);
        hop(peers, args, args.k2, args.S, &nodes, &edges);
        *args.node_count = nodes;
        *args.edge_count = edges;
    }
    pkb_block_barrier(peers);
}

extern "C" int pkb_run(pkb_world *world, const pkb_args *args, void *state, cudaStream_t stream)
{
    if (args->S == 0) {
        cudaMemsetAsync(args->node_count, 0, sizeof(int64_t), stream);
        return cudaMemsetAsync(args->edge_count, 0, sizeof(int64_t), stream);
    }
    sample<<<1, 32, 0, stream>>>(pkb_peers(world), *args);
    return cudaGetLastError();
}
