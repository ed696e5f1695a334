// SPDX-License-Identifier: Apache-2.0
// Atomics of all types, in global and shared memory; locks inside a warp; cuda::atomic.
#include "check.cuh"

#include <cuda/atomic>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

enum { BLOCKS = 8, THREADS = 128, ALL = BLOCKS * THREADS };

__global__ void integers(unsigned *u, int *s, unsigned long long *l)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&u[0], i);
    atomicSub(&u[1], 1u);
    atomicMin(&u[2], 1000000 - i);
    atomicMax(&u[3], i);
    atomicAnd(&u[4], ~(1u << i % 16));
    atomicOr(&u[5], 1u << i % 32);
    atomicXor(&u[6], i);
    atomicInc(&u[7], 99);
    atomicDec(&u[8], 99);
    atomicMin(&s[0], 5 - (int)i);
    atomicMax(&s[1], -(int)i - 1);
    atomicAdd(&l[0], 1ull << 33);
    atomicMax(&l[1], (unsigned long long)i << 40);
    atomicMin((long long *)&l[2], -(long long)i << 34);
    atomicOr(&l[3], 1ull << i % 64);
}

static void integer_operations()
{
    Array<unsigned> u(9);
    Array<int> s(2);
    Array<unsigned long long> l(4);

    u[1] = 5000, u[2] = ~0u, u[4] = ~0u, s[0] = 100, s[1] = -1000000;
    u.up(), s.up(), l.up();
    integers<<<BLOCKS, THREADS>>>(u.device, s.device, l.device);
    u.down(), s.down(), l.down();
    unsigned x = 0, inc = 0, dec = 0;
    for (unsigned i = 0; i < ALL; i++) {
        x ^= i;
        inc = inc >= 99 ? 0 : inc + 1;
        dec = dec == 0 || dec > 99 ? 99 : dec - 1;
    }
    unsigned want[9] = {
        ALL * (ALL - 1) / 2, 5000 - ALL, 1000000 - ALL + 1, ALL - 1, 0xffff0000, ~0u, x, inc, dec};
    for (int i = 0; i < 9; i++)
        EXPECT(u[i] == want[i], "u[%d] is %x, not %x", i, u[i], want[i]);
    EXPECT(s[0] == 5 - ALL + 1 && s[1] == -1, "signed %d %d", s[0], s[1]);
    EXPECT(l[0] == (unsigned long long)ALL << 33 && l[1] == (ALL - 1ull) << 40 &&
               (long long)l[2] == -(long long)(ALL - 1) << 34 && l[3] == ~0ull,
           "64 bits");
}

__global__ void floats(float *f, double *d, __half2 *h, __nv_bfloat162 *b, __half *single)
{
    atomicAdd(f, 0.5f);
    atomicAdd(d, 0.25);
    atomicAdd(h, __floats2half2_rn(1, 2));
    atomicAdd(b, __floats2bfloat162_rn(1, -1));
    atomicAdd(single + 1, __float2half(1));
}

static void float_operations()
{
    Array<float> f(1);
    Array<double> d(1);
    Array<__half2> h(1);
    Array<__nv_bfloat162> b(1);
    Array<__half> single(2);

    floats<<<1, THREADS>>>(f.device, d.device, h.device, b.device, single.device);
    f.down(), d.down(), h.down(), b.down(), single.down();
    EXPECT(f[0] == 64 && d[0] == 32, "%g %g", f[0], d[0]);
    EXPECT(__low2float(h[0]) == 128 && __high2float(h[0]) == 256, "half2 %g %g", __low2float(h[0]),
           __high2float(h[0]));
    EXPECT(__low2float(b[0]) == 128 && __high2float(b[0]) == -128, "bfloat162 %g",
           __low2float(b[0]));
    EXPECT(__half2float(single[0]) == 0 && __half2float(single[1]) == 128, "half %g",
           __half2float(single[1]));
}

__global__ void exchange(int *slot, int *seen, unsigned short *small)
{
    int before = atomicExch(slot, threadIdx.x + 1);
    atomicAdd(&seen[before], 1);
    unsigned short old = *(volatile unsigned short *)small, assumed;
    do {
        assumed = old;
        old = atomicCAS(small, assumed, (unsigned short)(assumed + 3));
    } while (assumed != old);
}

static void exchange_and_compare()
{
    Array<int> slot(1), seen(300);
    Array<unsigned short> small(2);

    exchange<<<1, 256>>>(slot.device, seen.device, small.device);
    slot.down(), seen.down(), small.down();
    seen[slot[0]]++;
    for (int i = 0; i <= 256; i++)
        EXPECT(seen[i] == 1, "value %d was seen %d times", i, seen[i]);
    EXPECT(small[0] == 768 && small[1] == 0, "16 bits: %d", small[0]);
}

__global__ void shared_histogram(const int *keys, int *out, int n)
{
    __shared__ int bins[32];
    if (threadIdx.x < 32)
        bins[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&bins[keys[i]], 1);
    __syncthreads();
    if (threadIdx.x < 32)
        atomicAdd(&out[threadIdx.x], bins[threadIdx.x]);
}

static void shared_memory_histogram()
{
    Array<int> keys(10000), out(32);
    int want[32] = {0};

    for (int i = 0; i < 10000; i++)
        want[keys[i] = (int)(random_word(i) % 32)]++;
    keys.up();
    shared_histogram<<<4, 256>>>(keys.device, out.device, 10000);
    out.down();
    for (int i = 0; i < 32; i++)
        EXPECT(out[i] == want[i], "bin %d: %d, not %d", i, out[i], want[i]);
}

// Needs independent progress of the lanes of a warp.
__global__ void locked(int *lock, int *value)
{
    while (atomicCAS(lock, 0, 1) != 0)
        ;
    __threadfence();
    *value += 1;
    __threadfence();
    atomicExch(lock, 0);
}

static void spin_lock_inside_a_warp()
{
    Array<int> lock(1), value(1);
    locked<<<6, 96>>>(lock.device, value.device);
    value.down();
    EXPECT(value[0] == 576, "value %d", value[0]);
}

__global__ void library_atomics(cuda::atomic<int, cuda::thread_scope_device> *turn, int *out)
{
    // Threads take turns in the opposite order of their numbers.
    int mine = (int)(gridDim.x * blockDim.x) - 1 - (int)(blockIdx.x * blockDim.x + threadIdx.x);
    while (turn->load(cuda::memory_order_acquire) != mine)
        ;
    out[mine] = mine == 0 ? 1 : out[mine - 1] + mine;
    turn->store(mine + 1, cuda::memory_order_release);
    cuda::atomic_ref<int, cuda::thread_scope_block>(out[200]).fetch_max(mine);
}

static void acquire_and_release()
{
    Array<int> turn(1), out(201);
    library_atomics<<<2, 50>>>(
        reinterpret_cast<cuda::atomic<int, cuda::thread_scope_device> *>(turn.device), out.device);
    out.down();
    for (int i = 0; i < 100; i++)
        EXPECT(out[i] == 1 + i * (i + 1) / 2, "turn %d: %d", i, out[i]);
    EXPECT(out[200] == 99, "max %d", out[200]);
}

MAIN(CASE(integer_operations), CASE(float_operations), CASE(exchange_and_compare),
     CASE(shared_memory_histogram), CASE(spin_lock_inside_a_warp), CASE(acquire_and_release))
