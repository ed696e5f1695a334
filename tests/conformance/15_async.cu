// SPDX-License-Identifier: Apache-2.0
//
// Asynchronous copies, mbarriers between producers and consumers, vector atomics.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
#include <cuda/pipeline>

#include "check.cuh"

#pragma nv_diag_suppress 20054 // barriers are made by init()

namespace cg = cooperative_groups;

__global__ void group_copy(const float *in, float *out)
{
    __shared__ float tile[256];
    auto block = cg::this_thread_block();
    cg::memcpy_async(block, tile, in + blockIdx.x * 256, sizeof tile);
    cg::wait(block);
    out[blockIdx.x * 256 + threadIdx.x] = tile[255 - threadIdx.x];
}

static void cooperative_groups_copy()
{
    Array<float> in(1024), out(1024);
    for (int i = 0; i < 1024; i++)
        in[i] = i;
    in.up();
    group_copy<<<4, 256>>>(in.device, out.device);
    out.down();
    for (int i = 0; i < 1024; i++)
        EXPECT(out[i] == i / 256 * 256 + 255 - i % 256, "element %d is %g", i, out[i]);
}

// Two stages: while one is summed the next is on its way.
__global__ void two_stages(const int *in, int *out, int tiles)
{
    __shared__ alignas(16) int stage[2][128];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    auto block = cg::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state);
    int sum = 0;
    for (int next = 0, tile = 0; tile < tiles; tile++) {
        for (; next < tiles && next < tile + 2; next++) {
            pipe.producer_acquire();
            cuda::memcpy_async(block, stage[next % 2], in + next * 128,
                               cuda::aligned_size_t<16>(512), pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        sum += stage[tile % 2][(threadIdx.x + tile) % 128];
        pipe.consumer_release();
    }
    out[threadIdx.x] = sum;
}

static void pipeline_of_two_stages()
{
    const int tiles = 9;
    Array<int> in(tiles * 128), out(128);
    for (int i = 0; i < tiles * 128; i++)
        in[i] = i * i;
    in.up();
    two_stages<<<1, 128>>>(in.device, out.device, tiles);
    out.down();
    for (int i = 0; i < 128; i++) {
        int wanted = 0;
        for (int tile = 0; tile < tiles; tile++)
            wanted += in[tile * 128 + (i + tile) % 128];
        EXPECT(out[i] == wanted, "thread %d has %d, not %d", i, out[i], wanted);
    }
}

// One thread has the bulk copy in and out done, all wait for the bytes.
__global__ void bulk(const int *in, int *out)
{
    __shared__ alignas(128) int tile[256];
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    if (threadIdx.x == 0) {
        init(&bar, blockDim.x);
        cuda::device::experimental::fence_proxy_async_shared_cta();
    }
    __syncthreads();
    cuda::barrier<cuda::thread_scope_block>::arrival_token token;
    if (threadIdx.x == 0) {
        cuda::device::experimental::cp_async_bulk_global_to_shared(tile, in + blockIdx.x * 256,
                                                                   sizeof tile, bar);
        token = cuda::device::barrier_arrive_tx(bar, 1, sizeof tile);
    } else {
        token = bar.arrive();
    }
    bar.wait(std::move(token));
    tile[threadIdx.x] += 1000;
    cuda::device::experimental::fence_proxy_async_shared_cta();
    __syncthreads();
    if (threadIdx.x == 0) {
        cuda::device::experimental::cp_async_bulk_shared_to_global(out + blockIdx.x * 256, tile,
                                                                   sizeof tile);
        cuda::device::experimental::cp_async_bulk_commit_group();
        cuda::device::experimental::cp_async_bulk_wait_group_read<0>();
    }
}

static void bulk_copies_both_ways()
{
    Array<int> in(1024), out(1024);
    for (int i = 0; i < 1024; i++)
        in[i] = i;
    in.up();
    bulk<<<4, 256>>>(in.device, out.device);
    out.down();
    for (int i = 0; i < 1024; i++)
        EXPECT(out[i] == i + 1000, "element %d is %d", i, out[i]);
}

// Warp 0 produces, warp 1 consumes; full and empty barriers, 20 rounds through two slots.
__global__ void ring(int *out)
{
    __shared__ int slot[2][32];
    __shared__ cuda::barrier<cuda::thread_scope_block> full[2], empty[2];
    int lane = threadIdx.x % 32, sum = 0;
    if (threadIdx.x < 2) {
        init(&full[threadIdx.x], 64);
        init(&empty[threadIdx.x], 64);
    }
    __syncthreads();
    for (int round = 0; round < 20; round++) {
        int s = round % 2;
        if (threadIdx.x < 32) {
            if (round >= 2)
                empty[s].arrive_and_wait();
            slot[s][lane] = round * 100 + lane;
            (void)full[s].arrive();
        } else {
            full[s].arrive_and_wait();
            sum += slot[s][31 - lane];
            if (round < 18)
                (void)empty[s].arrive();
        }
    }
    if (threadIdx.x >= 32)
        out[lane] = sum;
}

static void warps_hand_over_through_barriers()
{
    Array<int> out(32);
    ring<<<1, 64>>>(out.device);
    EXPECT_OK(cudaDeviceSynchronize());
    out.down();
    for (int i = 0; i < 32; i++)
        EXPECT(out[i] == 19000 + 20 * (31 - i), "lane %d has %d", i, out[i]);
}

__global__ void vectors(float4 *four, float2 *two)
{
    atomicAdd(four, make_float4(1, 2, 3, threadIdx.x));
    atomicAdd(two, make_float2(0.5f, -1));
}

static void vector_atomics()
{
    Array<float> out(8);
    out.up();
    vectors<<<3, 64>>>((float4 *)out.device, (float2 *)(out.device + 4));
    out.down();
    const float wanted[] = {192, 384, 576, 3 * 2016, 96, -192};
    for (int i = 0; i < 6; i++)
        EXPECT(out[i] == wanted[i], "element %d is %g", i, out[i]);
}

MAIN(CASE(cooperative_groups_copy), CASE(pipeline_of_two_stages), CASE(bulk_copies_both_ways),
     CASE(warps_hand_over_through_barriers), CASE(vector_atomics))
