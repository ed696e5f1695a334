// SPDX-License-Identifier: Apache-2.0
// Static and dynamic shared memory, its 32-bit addresses, and many large static arrays.
#include "check.cuh"

extern __shared__ unsigned char dynamic_bytes[];

__global__ void both_kinds(int *out, int n)
{
    __shared__ int fixed[64];
    __shared__ double other[3];
    int *flexible = reinterpret_cast<int *>(dynamic_bytes);

    fixed[threadIdx.x] = threadIdx.x;
    if (threadIdx.x < 3)
        other[threadIdx.x] = threadIdx.x * 1.5;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        flexible[i] = i * 3;
    __syncthreads();
    out[threadIdx.x] = fixed[63 - threadIdx.x] * 1000 + flexible[n - 1 - threadIdx.x] +
                       (int)(other[threadIdx.x % 3] * 2);
}

static void static_and_dynamic()
{
    Array<int> out(64);
    both_kinds<<<3, 64, 1000 * sizeof(int)>>>(out.device, 1000);
    out.down();
    for (int i = 0; i < 64; i++)
        EXPECT(out[i] == (63 - i) * 1000 + (999 - i) * 3 + i % 3 * 3, "thread %d: %d", i, out[i]);
}

template <int K> __global__ void forty_kib(int *out)
{
    __shared__ int array[10 * 1024];
    array[threadIdx.x * 10 + K] = K * 100 + threadIdx.x;
    __syncthreads();
    out[K * 32 + threadIdx.x] = array[(31 - threadIdx.x) * 10 + K];
}

template <int K> static void launch_all(int *out)
{
    forty_kib<K><<<1, 32>>>(out);
    if constexpr (K > 0)
        launch_all<K - 1>(out);
}

static void ten_templates_of_40_kib()
{
    Array<int> out(320);
    launch_all<9>(out.device);
    EXPECT_OK(cudaDeviceSynchronize());
    out.down();
    for (int k = 0; k < 10; k++)
        for (int t = 0; t < 32; t++)
            EXPECT(out[k * 32 + t] == k * 100 + 31 - t, "template %d thread %d: %d", k, t,
                   out[k * 32 + t]);
}

__global__ void addresses(uint32_t *out)
{
    __shared__ alignas(16) int array[32];
    uint32_t a = (uint32_t)__cvta_generic_to_shared(&array[threadIdx.x]);
    int value;

    asm volatile("st.shared.u32 [%0], %1;" ::"r"(a), "r"(threadIdx.x * 7) : "memory");
    __syncthreads();
    asm volatile("ld.shared.u32 %0, [%1+-4];" : "=r"(value) : "r"(a + 4) : "memory");
    int *generic = (int *)__cvta_shared_to_generic(a);
    out[threadIdx.x] = value == (int)threadIdx.x * 7 && *generic == value && __isShared(generic) &&
                       !__isGlobal(generic) && __isGlobal(out) && !__isShared(out);
}

static void shared_addresses_have_32_bits()
{
    Array<uint32_t> out(32);
    addresses<<<1, 32>>>(out.device);
    out.down();
    for (int i = 0; i < 32; i++)
        EXPECT(out[i] == 1, "thread %d", i);
}

__global__ void large_dynamic(int *out, int n)
{
    int *array = reinterpret_cast<int *>(dynamic_bytes);
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        array[i] = i;
    __syncthreads();
    int sum = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        sum += array[n - 1 - i] & 1;
    atomicAdd(out, sum);
}

static void opt_in_to_227_kib()
{
    Array<int> out(1);
    int bytes = 227 * 1024;

    EXPECT_OK(
        cudaFuncSetAttribute(large_dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    large_dynamic<<<1, 256, bytes>>>(out.device, bytes / 4);
    EXPECT_OK(cudaGetLastError());
    out.down();
    EXPECT(out[0] == bytes / 8, "sum %d", out[0]);
}

// Each block has its own memory although all are live at once.
__global__ void blocks_apart(int *ticket, int *out)
{
    __shared__ int own;
    if (threadIdx.x == 0) {
        own = blockIdx.x;
        atomicAdd(ticket, 1);
        while (atomicAdd(ticket, 0) < (int)gridDim.x)
            ;
    }
    __syncthreads();
    out[blockIdx.x * blockDim.x + threadIdx.x] = own;
}

static void live_blocks_do_not_share()
{
    Array<int> ticket(1), out(40 * 32);
    blocks_apart<<<40, 32>>>(ticket.device, out.device);
    out.down();
    for (int i = 0; i < 40 * 32; i++)
        EXPECT(out[i] == i / 32, "element %d is %d", i, out[i]);
}

MAIN(CASE(static_and_dynamic), CASE(ten_templates_of_40_kib), CASE(shared_addresses_have_32_bits),
     CASE(opt_in_to_227_kib), CASE(live_blocks_do_not_share))
