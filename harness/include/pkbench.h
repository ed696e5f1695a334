/* SPDX-License-Identifier: Apache-2.0
 *
 * What the host part of an attempt sees of its world; docs/abi.md is the manual. An attempt is one
 * .cu file that includes this header and "problem.h" (generated: struct pkb_args) and defines
 *
 *   extern "C" int pkb_setup(pkb_world *, const pkb_args *, void **state);    optional
 *   extern "C" int pkb_run(pkb_world *, const pkb_args *, void *state, cudaStream_t stream);
 *   extern "C" void pkb_teardown(pkb_world *, void *state);                   optional
 *
 * pkb_run only enqueues work on `stream` (other streams must be joined to it) and returns 0.
 */
#ifndef PKBENCH_H
#define PKBENCH_H

#include <cuda_runtime.h>
#include <stddef.h>
#include <stdint.h>

#define PKBENCH_ABI_VERSION 1 /* frozen: docs/abi.md says what a version 2 may change */

typedef struct pkb_world pkb_world;

/* A kernel argument, by value: turns a pointer of this rank into the same object of a peer. */
typedef struct pkb_peer_table {
    uint64_t stride;     /* bytes from rank q's arena to rank q + 1's */
    uint64_t timeout_ns; /* a device-side wait gives up after this */
    char *signals;       /* this rank's words for pkb_barrier and pkb_block_barrier */
    int32_t rank, world_size;
} pkb_peer_table;

typedef struct pkb_group_info {
    int32_t size, rank;   /* ranks in my group; my place among them */
    const int32_t *ranks; /* their world ranks, ascending */
} pkb_group_info;

#ifdef __cplusplus
extern "C" {
#endif

int pkb_rank(const pkb_world *world);
int pkb_world_size(const pkb_world *world);
pkb_peer_table pkb_peers(const pkb_world *world);

/* The ranks that share all my grid coordinates but `axis`; NULL if the problem has no such axis. */
const pkb_group_info *pkb_group(const pkb_world *world, const char *axis);

/* Memory at the same offset on every rank, zero-filled, peer-mapped. In pkb_setup only; collective:
 * all ranks ask for the same sizes in the same order. NULL beyond 8 GiB a rank. 256-byte aligned.
 * It belongs to the world and vanishes after pkb_teardown. */
void *pkb_symmetric_alloc(pkb_world *world, size_t bytes);

/* Whether rank q has the argument that `pointer` (from pkb_args, in pkb_run) names. */
int pkb_is_present(const pkb_world *world, const void *pointer, int q);

/* The multicast address of an argument or of symmetric memory; NULL unless the session allows
 * multicast. */
void *pkb_multicast(const pkb_world *world, const void *pointer);

/* The limit of device-side waits, for attempts that write their own. */
uint64_t pkb_timeout_ns(const pkb_world *world);

#ifdef __cplusplus
} /* extern "C" */

/* The object of rank q that corresponds to mine at `pointer`; an argument or symmetric memory. */
template <typename T>
__host__ __device__ inline T *pkb_peer(const pkb_peer_table &peers, T *pointer, int q)
{
    const int64_t distance = (int64_t)(q - peers.rank) * (int64_t)peers.stride;
    return (T *)((uint64_t)pointer + (uint64_t)distance);
}

template <typename T> inline T *pkb_peer(const pkb_world *world, T *pointer, int q)
{
    return pkb_peer(pkb_peers(world), pointer, q);
}
#endif

#endif
