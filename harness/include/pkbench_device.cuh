/* SPDX-License-Identifier: Apache-2.0
 *
 * Signals, waits and barriers across ranks, for use inside kernels.
 *
 * Every barrier here orders memory both ways: what a thread of any participating block wrote before
 * it (to its own memory or to a peer's) is visible to every participant after it.
 *
 * A rank's signal words (pkb_peer_table::signals) are 32 bits each and all zero at first:
 *
 *   channel c = block index, PKB_CHANNELS of them, for pkb_block_barrier:
 *     [epoch] [flag of rank 0] [flag of rank 1] ...
 *     this rank's block c writes epoch, rank q's block c writes flag q;
 *   one more channel of the same shape, for pkb_barrier:
 *     flag q is written by the last block to arrive on rank q;
 *   [arrived] [gate] [error]
 *
 * Epochs only grow, so a barrier needs no reset and may be used in any number of launches.
 * [error]: see pkb_give_up.
 */
#ifndef PKBENCH_DEVICE_CUH
#define PKBENCH_DEVICE_CUH

#include "pkbench.h"

enum {
    PKB_CHANNELS = 4096,     /* most blocks that may use pkb_block_barrier */
    PKB_CHANNEL_WORDS = 128, /* epoch + up to 64 ranks, padded to whole cache lines */
    PKB_SIGNAL_WORDS = (PKB_CHANNELS + 2) * PKB_CHANNEL_WORDS
};

/* Release: what this thread wrote (after __syncthreads: its block) is visible before `value`. */
__device__ inline void pkb_signal(uint32_t *flag, uint32_t value)
{
    asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(flag), "r"(value) : "memory");
}

__device__ inline uint32_t pkb_load_acquire(const uint32_t *flag)
{
    uint32_t value;
    asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(value) : "l"(flag) : "memory");
    return value;
}

__device__ inline uint64_t pkb_now_ns()
{
    uint64_t ns;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
    return ns;
}

__device__ inline uint32_t *pkb_channel(const pkb_peer_table &peers, uint32_t channel)
{
    return (uint32_t *)peers.signals + (size_t)channel * PKB_CHANNEL_WORDS;
}

/* Leaves word of which flag never came: its index among the words of this rank's symmetric memory,
 * with the highest bit set, or 1 for a flag that is elsewhere. */
__device__ inline void pkb_give_up(const pkb_peer_table &peers, const uint32_t *flag)
{
    const uint64_t index = (uint64_t)((const char *)flag - peers.signals) / sizeof *flag;
    pkb_channel(peers, PKB_CHANNELS + 1)[2] = index < 1u << 31 ? 1u << 31 | (uint32_t)index : 1;
    __threadfence_system();
    __trap();
}

/* Acquire: returns once *flag has reached `value` (modulo 2^32, so epochs may wrap). After the
 * world's time limit it sets the error word and traps, so that a lost signal is a fault with a
 * place, not a hang. */
__device__ inline void pkb_wait(const pkb_peer_table &peers, const uint32_t *flag, uint32_t value)
{
    const uint64_t start_ns = pkb_now_ns();
    while ((int32_t)(pkb_load_acquire(flag) - value) < 0) {
        if (pkb_now_ns() - start_ns > peers.timeout_ns)
            pkb_give_up(peers, flag);
    }
}

__device__ inline uint32_t pkb_thread_index()
{
    return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}

__device__ inline uint32_t pkb_block_index()
{
    return blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
}

/* Tells every rank that this one has reached `epoch` on `channel` and waits for all of them. Called
 * by all threads of one block; the threads share the work, one peer each. */
__device__ inline void pkb_exchange(const pkb_peer_table &peers, uint32_t channel, uint32_t epoch)
{
    uint32_t *words = pkb_channel(peers, channel);
    const int threads = (int)(blockDim.x * blockDim.y * blockDim.z);
    for (int q = (int)pkb_thread_index(); q < peers.world_size; q += threads) {
        pkb_signal(pkb_peer(peers, words + 1 + peers.rank, q), epoch);
        pkb_wait(peers, words + 1 + q, epoch);
    }
}

/* The blocks with the same index on all ranks meet. Every rank launches the same grid. Does not
 * wait for other blocks of this rank: enough at a kernel's start ("my peers' arguments are ready")
 * and, if every block calls it, at its end ("nobody reads my arguments any more"). */
__device__ inline void pkb_block_barrier(const pkb_peer_table &peers)
{
    const uint32_t channel = pkb_block_index();
    uint32_t *epoch_word = pkb_channel(peers, channel);
    __threadfence_system();
    __syncthreads();
    const uint32_t epoch = *(volatile uint32_t *)epoch_word + 1;
    pkb_exchange(peers, channel, epoch);
    __syncthreads();
    if (pkb_thread_index() == 0)
        *(volatile uint32_t *)epoch_word = epoch;
    __syncthreads();
}

/* All blocks of all ranks meet. The whole grid must be resident (a cooperative launch, or at most
 * as many blocks as fit on the GPU at once). Grids may differ between ranks. */
__device__ inline void pkb_barrier(const pkb_peer_table &peers)
{
    __shared__ uint32_t shared_epoch, is_last;
    uint32_t *words = pkb_channel(peers, PKB_CHANNELS + 1);
    uint32_t *arrived = words, *gate = words + 1;
    const uint32_t blocks = gridDim.x * gridDim.y * gridDim.z;

    __threadfence_system();
    __syncthreads();
    if (pkb_thread_index() == 0) {
        /* The gate cannot move before this block has arrived, so all blocks read one epoch. */
        shared_epoch = pkb_load_acquire(gate) + 1;
        __threadfence();
        is_last = atomicAdd(arrived, 1u) == blocks - 1;
        __threadfence();
    }
    __syncthreads();
    if (is_last) {
        if (pkb_thread_index() == 0)
            *(volatile uint32_t *)arrived = 0;
        pkb_exchange(peers, PKB_CHANNELS, shared_epoch);
        __threadfence_system();
        __syncthreads();
        if (pkb_thread_index() == 0)
            pkb_signal(gate, shared_epoch);
    } else if (pkb_thread_index() == 0) {
        pkb_wait(peers, gate, shared_epoch);
    }
    __syncthreads();
}

#endif
