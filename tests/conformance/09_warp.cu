// SPDX-License-Identifier: Apache-2.0
// Votes, match, redux, activemask, elect, and what cooperative groups make of them.
#include "check.cuh"

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

namespace cg = cooperative_groups;

__global__ void votes(unsigned *out)
{
    int lane = threadIdx.x;
    unsigned r = __ballot_sync(~0u, lane % 3 == 0);
    out[lane * 4] = r;
    out[lane * 4 + 1] = __all_sync(~0u, lane < 32) * 2 + __all_sync(~0u, lane < 31);
    out[lane * 4 + 2] = __any_sync(~0u, lane == 31) * 2 + __any_sync(~0u, lane == 32);
    int uniform;
    asm volatile("{ .reg .pred p, q; setp.lt.s32 p, %1, 40; vote.sync.uni.pred q, p, -1; selp.s32 "
                 "%0, 1, 0, q; }"
                 : "=r"(uniform)
                 : "r"(lane));
    out[lane * 4 + 3] = uniform;
}

static void vote_modes()
{
    Array<unsigned> out(128);
    votes<<<1, 32>>>(out.device);
    out.down();
    for (int i = 0; i < 32; i++)
        EXPECT(out[i * 4] == 0x49249249 && out[i * 4 + 1] == 2 && out[i * 4 + 2] == 2 &&
                   out[i * 4 + 3] == 1,
               "lane %d: %08x %u %u %u", i, out[i * 4], out[i * 4 + 1], out[i * 4 + 2],
               out[i * 4 + 3]);
}

__global__ void matches(unsigned *out)
{
    int lane = threadIdx.x, same;
    out[lane] = __match_any_sync(~0u, lane * 7 % 5);
    out[32 + lane] = __match_all_sync(~0u, lane / 32, &same) + same;
    out[64 + lane] = __match_all_sync(~0u, lane / 16, &same) + same;
    out[96 + lane] = __match_any_sync(~0u, (long long)(lane % 2) << 33);
}

static void match_any_and_all()
{
    Array<unsigned> out(128);
    matches<<<1, 32>>>(out.device);
    out.down();
    for (int i = 0; i < 32; i++) {
        unsigned want = 0;
        for (int j = 0; j < 32; j++)
            want |= (unsigned)(j * 7 % 5 == i * 7 % 5) << j;
        EXPECT(out[i] == want, "match.any lane %d: %08x", i, out[i]);
        EXPECT(out[32 + i] == 0 && out[64 + i] == 0, "match.all lane %d: %08x %08x", i, out[32 + i],
               out[64 + i]);
        EXPECT(out[96 + i] == (i % 2 ? 0xaaaaaaaa : 0x55555555), "64 bits, lane %d", i);
    }
}

__global__ void redux(unsigned *out)
{
    unsigned v = threadIdx.x * 2654435761u;
    out[threadIdx.x * 8] = __reduce_add_sync(~0u, v);
    out[threadIdx.x * 8 + 1] = __reduce_min_sync(~0u, v);
    out[threadIdx.x * 8 + 2] = __reduce_max_sync(~0u, v);
    out[threadIdx.x * 8 + 3] = (unsigned)__reduce_min_sync(~0u, (int)v);
    out[threadIdx.x * 8 + 4] = (unsigned)__reduce_max_sync(~0u, (int)v);
    out[threadIdx.x * 8 + 5] = __reduce_and_sync(~0u, v | 0x80000001);
    out[threadIdx.x * 8 + 6] = __reduce_or_sync(~0u, v & 0xff00ff);
    out[threadIdx.x * 8 + 7] = __reduce_xor_sync(~0u, v);
}

static void redux_operations()
{
    Array<unsigned> out(256);
    unsigned add = 0, low = ~0u, high = 0, all = ~0u, any = 0, odd = 0;
    int least = 0x7fffffff, most = -0x7fffffff - 1;

    redux<<<1, 32>>>(out.device);
    out.down();
    for (unsigned i = 0; i < 32; i++) {
        unsigned v = i * 2654435761u;
        add += v, odd ^= v, all &= v | 0x80000001, any |= v & 0xff00ff;
        low = v < low ? v : low, high = v > high ? v : high;
        least = (int)v < least ? (int)v : least, most = (int)v > most ? (int)v : most;
    }
    unsigned want[8] = {add, low, high, (unsigned)least, (unsigned)most, all, any, odd};
    for (int i = 0; i < 256; i++)
        EXPECT(out[i] == want[i % 8], "operation %d lane %d: %x", i % 8, i / 8, out[i]);
}

__global__ void active(unsigned *out)
{
    int lane = threadIdx.x;
    out[lane] = __activemask();
    if (lane % 5 == 2)
        out[32 + lane] = __activemask();
    else if (lane < 9)
        out[32 + lane] = __activemask();
    __syncwarp();
    out[64 + lane] = __activemask();
}

static void activemask_in_branches()
{
    Array<unsigned> out(96);
    unsigned side = 0, other = 0;

    active<<<1, 32>>>(out.device);
    out.down();
    for (int i = 0; i < 32; i++)
        (i % 5 == 2 ? side : other) |= i % 5 == 2 || i < 9 ? 1u << i : 0;
    for (int i = 0; i < 32; i++) {
        unsigned want = i % 5 == 2 ? side : i < 9 ? other : 0;
        EXPECT(out[i] == ~0u && out[64 + i] == ~0u && out[32 + i] == want,
               "lane %d: %08x %08x %08x", i, out[i], out[32 + i], out[64 + i]);
    }
}

__global__ void elected(unsigned *out)
{
    unsigned leader, is_leader, mask = threadIdx.x < 8 ? 0xff : 0xffffff00;
    asm volatile("{ .reg .pred p; elect.sync %0|p, %2; selp.u32 %1, 1, 0, p; }"
                 : "=r"(leader), "=r"(is_leader)
                 : "r"(mask));
    out[threadIdx.x] = leader * 2 + is_leader;
}

static void elect_one()
{
    Array<unsigned> out(32);
    elected<<<1, 32>>>(out.device);
    out.down();
    unsigned leaders = 0, leader_lane[2] = {out[0] / 2, out[31] / 2};
    for (unsigned i = 0; i < 32; i++) {
        leaders += out[i] & 1;
        EXPECT(out[i] / 2 == leader_lane[i >= 8] && (out[i] & 1) == (i == out[i] / 2),
               "lane %u: %u", i, out[i]);
    }
    EXPECT(leaders == 2 && leader_lane[0] < 8 && leader_lane[1] >= 8, "%u leaders", leaders);
}

__global__ void tiles(int *out)
{
    auto block = cg::this_thread_block();
    auto tile = cg::tiled_partition<8>(block);
    int v = block.thread_rank();
    out[v] = cg::reduce(tile, v, cg::plus<int>());
    out[128 + v] = cg::inclusive_scan(tile, v % 8 + 1);
    out[256 + v] = tile.shfl_xor(v, 3) + tile.meta_group_rank() * 1000;
    block.sync();
    out[384 + v] = tile.ballot(v % 2) + tile.any(v == 5) * 1000;
}

static void tiled_partitions()
{
    Array<int> out(512);
    tiles<<<1, 128>>>(out.device);
    out.down();
    for (int i = 0; i < 128; i++) {
        int first = i / 8 * 8, k = i % 8;
        EXPECT(out[i] == 8 * first + 28, "reduce %d: %d", i, out[i]);
        EXPECT(out[128 + i] == (k + 1) * (k + 2) / 2, "scan %d: %d", i, out[128 + i]);
        EXPECT(out[256 + i] == (i ^ 3) + i / 8 * 1000, "shfl %d: %d", i, out[256 + i]);
        EXPECT(out[384 + i] == 0xaa + (first == 0) * 1000, "vote %d: %d", i, out[384 + i]);
    }
}

__global__ void coalesced(int *counter, int *out)
{
    int v = threadIdx.x;
    if (v % 3 == 0) {
        auto group = cg::coalesced_threads();
        int base = 0;
        if (group.thread_rank() == 0)
            base = atomicAdd(counter, group.size());
        base = group.shfl(base, 0);
        out[base + group.thread_rank()] = v;
    }
}

static void coalesced_groups_aggregate()
{
    Array<int> counter(1), out(64);
    bool seen[96] = {false};

    coalesced<<<1, 96>>>(counter.device, out.device);
    counter.down(), out.down();
    EXPECT(counter[0] == 32, "counter %d", counter[0]);
    for (int i = 0; i < 32; i++)
        if (out[i] >= 0 && out[i] < 96)
            seen[out[i]] = true;
    for (int i = 0; i < 96; i += 3)
        EXPECT(seen[i], "%d is missing", i);
}

__global__ void binary(int *out)
{
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    auto part = cg::binary_partition(warp, threadIdx.x % 4 == 0);
    out[threadIdx.x] = cg::reduce(part, 1, cg::plus<int>()) * 100 + part.thread_rank();
    auto labels = cg::labeled_partition(warp, (int)threadIdx.x % 3);
    out[64 + threadIdx.x] = labels.size() * 100 + labels.thread_rank();
}

static void binary_and_labeled_partitions()
{
    Array<int> out(128);
    binary<<<1, 64>>>(out.device);
    out.down();
    for (int i = 0; i < 64; i++) {
        int lane = i % 32, rank = 0, label_rank = 0, label_size = 0;
        for (int j = 0; j < 32; j++) {
            rank += j < lane && (j % 4 == 0) == (lane % 4 == 0);
            label_size += (j + i / 32 * 32) % 3 == i % 3;
            label_rank += j < lane && (j + i / 32 * 32) % 3 == i % 3;
        }
        EXPECT(out[i] == (lane % 4 == 0 ? 8 : 24) * 100 + rank, "binary %d: %d", i, out[i]);
        EXPECT(out[64 + i] == label_size * 100 + label_rank, "labeled %d: %d", i, out[64 + i]);
    }
}

MAIN(CASE(vote_modes), CASE(match_any_and_all), CASE(redux_operations),
     CASE(activemask_in_branches), CASE(elect_one), CASE(tiled_partitions),
     CASE(coalesced_groups_aggregate), CASE(binary_and_labeled_partitions))
