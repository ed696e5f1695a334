// SPDX-License-Identifier: Apache-2.0
// Whole grids: grid barriers at full residency, look-back scan, last block done, many blocks.
#include "check.cuh"

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void sweeps(int *a, int *b, int rounds)
{
    auto grid = cg::this_grid();
    int n = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int r = 0; r < rounds; r++) {
        b[i] = a[(i + 1) % n] + 1;
        grid.sync();
        a[i] = b[(i + 1) % n] + 1;
        grid.sync();
    }
    if (!grid.is_valid() || grid.size() != (unsigned long long)n)
        a[i] = -1;
}

static void grid_barrier_at_full_residency()
{
    int blocks = 0, sms = 0;
    EXPECT_OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, sweeps, 128, 0));
    EXPECT_OK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
    // 132 multiprocessors, two blocks each: half of what would fit keeps the test short.
    int n = sms * 2 * 128;
    Array<int> a(n), b(n);
    int rounds = 5;

    EXPECT(blocks >= 2, "%d blocks a multiprocessor", blocks);
    for (int i = 0; i < n; i++)
        a[i] = i;
    a.up();
    void *arguments[] = {&a.device, &b.device, &rounds};
    EXPECT_OK(
        cudaLaunchCooperativeKernel((void *)sweeps, dim3(n / 128), dim3(128), arguments, 0, 0));
    a.down();
    for (int i = 0; i < n; i++)
        EXPECT(a[i] == (i + 10) % n + 10, "element %d is %d", i, a[i]);
}

// Each block waits for its predecessor's sum: blocks need forward progress in order only.
__global__ void look_back(const int *in, int *out, volatile int *flags, volatile int *sums,
                          int *ticket)
{
    __shared__ int block, before, partial[64];
    if (threadIdx.x == 0)
        block = atomicAdd(ticket, 1);
    __syncthreads();
    int i = block * 64 + threadIdx.x;
    partial[threadIdx.x] = in[i];
    __syncthreads();
    for (int step = 1; step < 64; step *= 2) {
        int v = (int)threadIdx.x >= step ? partial[threadIdx.x - step] : 0;
        __syncthreads();
        partial[threadIdx.x] += v;
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        before = 0;
        if (block > 0) {
            while (flags[block - 1] == 0)
                ;
            __threadfence();
            before = sums[block - 1];
        }
        sums[block] = before + partial[63];
        __threadfence();
        flags[block] = 1;
    }
    __syncthreads();
    out[i] = before + partial[threadIdx.x];
}

static void look_back_scan()
{
    const int blocks = 500;
    Array<int> in(blocks * 64), out(blocks * 64), flags(blocks), sums(blocks), ticket(1);
    int sum = 0;

    for (int i = 0; i < blocks * 64; i++)
        in[i] = i % 7 - 2;
    in.up();
    look_back<<<blocks, 64>>>(in.device, out.device, flags.device, sums.device, ticket.device);
    out.down();
    for (int i = 0; i < blocks * 64; i++) {
        sum += in[i];
        EXPECT(out[i] == sum, "element %d is %d, not %d", i, out[i], sum);
    }
}

__global__ void last_block(const float *in, float *partial, unsigned *count, float *out)
{
    __shared__ bool is_last;
    __shared__ float sum[128];
    sum[threadIdx.x] = in[blockIdx.x * 128 + threadIdx.x];
    __syncthreads();
    for (int s = 64; s > 0; s /= 2) {
        if (threadIdx.x < s)
            sum[threadIdx.x] += sum[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = sum[0];
        __threadfence();
        is_last = atomicInc(count, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (is_last && threadIdx.x == 0) {
        float total = 0;
        for (int b = 0; b < (int)gridDim.x; b++)
            total += partial[b];
        *out = total;
    }
}

static void last_block_sums_up()
{
    Array<float> in(128 * 100), partial(100), out(1);
    Array<unsigned> count(1);

    for (int i = 0; i < 12800; i++)
        in[i] = i % 16;
    in.up();
    for (int repeat = 0; repeat < 2; repeat++) {
        last_block<<<100, 128>>>(in.device, partial.device, count.device, out.device);
        out.down();
        EXPECT(out[0] == 12800 * 7.5f, "sum %g", out[0]);
    }
}

__global__ void one_each(unsigned *out)
{
    atomicAdd(&out[blockIdx.x % 64], blockIdx.x + 1);
}

static void hundred_thousand_blocks()
{
    Array<unsigned> out(64);
    one_each<<<100000, 1>>>(out.device);
    out.down();
    for (unsigned i = 0; i < 64; i++) {
        unsigned want = 0;
        for (unsigned b = i; b < 100000; b += 64)
            want += b + 1;
        EXPECT(out[i] == want, "slot %u: %u, not %u", i, out[i], want);
    }
}

__global__ void times(long long *out)
{
    long long a = clock64();
    unsigned long long t0, t1;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t0));
    for (int i = 0; i < 10; i++)
        __nanosleep(100);
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t1));
    out[0] = clock64() - a;
    out[1] = (long long)(t1 - t0);
    unsigned sm, count;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
    asm volatile("mov.u32 %0, %%nsmid;" : "=r"(count));
    out[2] = sm < count && count == 132;
}

static void clocks_go_forward()
{
    Array<long long> out(3);
    times<<<1, 1>>>(out.device);
    out.down();
    EXPECT(out[0] > 0 && out[1] >= 0 && out[2] == 1, "%lld %lld %lld", out[0], out[1], out[2]);
}

MAIN(CASE(grid_barrier_at_full_residency), CASE(look_back_scan), CASE(last_block_sums_up),
     CASE(hundred_thousand_blocks), CASE(clocks_go_forward))
