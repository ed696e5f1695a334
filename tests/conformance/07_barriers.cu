// SPDX-License-Identifier: Apache-2.0
// Block barriers: ids, counts, arrive and sync, reductions, early exits.
#include "check.cuh"

__global__ void tree_sum(const int *in, int *out)
{
    __shared__ int partial[1024];
    partial[threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x];
    __syncthreads();
    for (int step = blockDim.x / 2; step > 0; step /= 2) {
        if ((int)threadIdx.x < step)
            partial[threadIdx.x] += partial[threadIdx.x + step];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        out[blockIdx.x] = partial[0];
}

static void tree_reduction()
{
    Array<int> in(4096), out(4);
    for (int i = 0; i < 4096; i++)
        in[i] = i % 97;
    in.up();
    tree_sum<<<4, 1024>>>(in.device, out.device);
    out.down();
    for (int b = 0; b < 4; b++) {
        int want = 0;
        for (int i = 0; i < 1024; i++)
            want += (b * 1024 + i) % 97;
        EXPECT(out[b] == want, "block %d: %d, not %d", b, out[b], want);
    }
}

__global__ void counts(int *out)
{
    int p = threadIdx.x % 5 == 0;
    int n = __syncthreads_count(p), all = __syncthreads_and(p || threadIdx.x < 2000),
        any = __syncthreads_or(threadIdx.x == 77);
    out[threadIdx.x] = n + (all != 0) * 10000 + (any != 0) * 100000;
}

static void count_and_or()
{
    Array<int> out(100);
    counts<<<1, 100>>>(out.device);
    out.down();
    for (int i = 0; i < 100; i++)
        EXPECT(out[i] == 20 + 10000 + 100000, "thread %d: %d", i, out[i]);
}

__global__ void early_exit(int *out)
{
    __shared__ int seen;
    if (threadIdx.x == 0)
        seen = 0;
    __syncthreads();
    if (threadIdx.x % 3 == 1)
        return;
    atomicAdd(&seen, 1);
    __syncthreads();
    out[threadIdx.x] = seen;
}

static void threads_that_left_are_not_waited_for()
{
    Array<int> out(300);
    early_exit<<<1, 300>>>(out.device);
    out.down();
    EXPECT(out[0] == 200 && out[299] == 200 && out[1] == 0, "%d %d %d", out[0], out[299], out[1]);
}

// Two producers and two consumers of a double buffer, with four named barriers.
__global__ void pipeline(int *out, int rounds)
{
    __shared__ int buffer[2][64];
    int half = threadIdx.x / 64, lane = threadIdx.x % 64, sum = 0;

    for (int r = 0; r < rounds; r++) {
        int full = 1 + r % 2, empty = 3 + r % 2;
        if (half == 0) {
            if (r >= 2)
                asm volatile("bar.sync %0, 128;" ::"r"(empty) : "memory");
            buffer[r % 2][lane] = r * 64 + lane;
            asm volatile("bar.arrive %0, 128;" ::"r"(full) : "memory");
        } else {
            asm volatile("bar.sync %0, 128;" ::"r"(full) : "memory");
            sum += buffer[r % 2][63 - lane];
            if (r + 2 < rounds)
                asm volatile("bar.arrive %0, 128;" ::"r"(empty) : "memory");
        }
    }
    if (half == 1)
        out[lane] = sum;
}

static void named_barriers_arrive_and_sync()
{
    Array<int> out(64);
    pipeline<<<1, 128>>>(out.device, 20);
    out.down();
    for (int i = 0; i < 64; i++)
        EXPECT(out[i] == 64 * 190 + 20 * (63 - i), "lane %d: %d", i, out[i]);
}

__global__ void groups_of_warps(int *out)
{
    __shared__ int slots[4];
    int group = threadIdx.x / 64;
    if (threadIdx.x % 64 == 0)
        slots[group] = 0;
    asm volatile("bar.sync %0, 64;" ::"r"(group + 8) : "memory");
    for (int i = 0; i <= group; i++) {
        atomicAdd(&slots[group], 1);
        asm volatile("bar.sync %0, 64;" ::"r"(group + 8) : "memory");
    }
    out[threadIdx.x] = slots[group];
}

static void barriers_of_warp_groups()
{
    Array<int> out(256);
    groups_of_warps<<<1, 256>>>(out.device);
    out.down();
    for (int i = 0; i < 256; i++)
        EXPECT(out[i] == 64 * (i / 64 + 1), "thread %d: %d", i, out[i]);
}

__global__ void in_divergent_code(int *out)
{
    // All threads meet the barrier, from two places in the code.
    if (threadIdx.x < 40)
        asm volatile("barrier.sync 0;" ::: "memory");
    else
        asm volatile("barrier.sync 0;" ::: "memory");
    out[threadIdx.x] = __syncthreads_count(1);
}

static void barrier_from_both_sides_of_a_branch()
{
    Array<int> out(96);
    in_divergent_code<<<1, 96>>>(out.device);
    out.down();
    EXPECT(out[0] == 96 && out[95] == 96, "%d %d", out[0], out[95]);
}

__global__ void three_dimensions(int *out)
{
    int linear = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    int block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    int warp, lane;
    asm("mov.u32 %0, %%warpid;" : "=r"(warp));
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    out[block * 60 + linear] = block * 1000 + linear + (lane == linear % 32 ? 0 : 1000000);
    (void)warp;
}

static void dimensions()
{
    Array<int> out(24 * 60);
    three_dimensions<<<dim3(2, 3, 4), dim3(5, 4, 3)>>>(out.device);
    out.down();
    for (int i = 0; i < 24 * 60; i++)
        EXPECT(out[i] == i / 60 * 1000 + i % 60, "element %d is %d", i, out[i]);
}

MAIN(CASE(tree_reduction), CASE(count_and_or), CASE(threads_that_left_are_not_waited_for),
     CASE(named_barriers_arrive_and_sync), CASE(barriers_of_warp_groups),
     CASE(barrier_from_both_sides_of_a_branch), CASE(dimensions))
