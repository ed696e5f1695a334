// SPDX-License-Identifier: Apache-2.0
//
// ldmatrix, stmatrix and mma.sync against plain sums.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "check.cuh"

// A is 16 x K and B is K x 8, stored by columns; both in shared memory, D is 16 x 8.
template <class T> __global__ void product_k16(const T *a, const T *b, float *d, bool is_bf16)
{
    __shared__ alignas(16) T sa[16 * 16], sb[8 * 16];
    int lane = threadIdx.x;
    for (int i = lane; i < 256; i += 32)
        sa[i] = a[i];
    for (int i = lane; i < 128; i += 32)
        sb[i] = b[i];
    __syncwarp();
    unsigned x[4], y[2];
    float c[4] = {1, 2, 3, 4};
    unsigned row = __cvta_generic_to_shared(&sa[lane % 16 * 16 + lane / 16 * 8]);
    unsigned col = __cvta_generic_to_shared(&sb[lane % 8 * 16 + lane / 8 % 2 * 8]);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
                 : "r"(row));
    asm volatile("ldmatrix.sync.aligned.x2.m8n8.shared.b16 {%0,%1}, [%2];"
                 : "=r"(y[0]), "=r"(y[1])
                 : "r"(col));
    if (is_bf16)
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, "
                     "{%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                     : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                     : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
    else
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, "
                     "{%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                     : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                     : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
    for (int i = 0; i < 4; i++)
        d[(lane / 4 + i / 2 * 8) * 8 + lane % 4 * 2 + i % 2] = c[i];
}

template <class T> static void check_product(bool is_bf16)
{
    Array<T> a(256), b(128);
    Array<float> d(128);
    for (int i = 0; i < 256; i++)
        a[i] = T(float((i * 37 + 11) % 64 - 32));
    for (int i = 0; i < 128; i++)
        b[i] = T(float((i * 53 + 5) % 32 - 16) / 4);
    a.up();
    b.up();
    product_k16<T><<<1, 32>>>(a.device, b.device, d.device, is_bf16);
    EXPECT_OK(cudaDeviceSynchronize());
    d.down();
    for (int r = 0; r < 16; r++)
        for (int n = 0; n < 8; n++) {
            float wanted = 1 + r / 8 * 2 + n % 2; // all sums are exact
            for (int k = 0; k < 16; k++)
                wanted += float(a[r * 16 + k]) * float(b[n * 16 + k]);
            EXPECT(d[r * 8 + n] == wanted, "row %d, column %d is %g, not %g", r, n, d[r * 8 + n],
                   wanted);
        }
}

static void product_of_bf16()
{
    check_product<__nv_bfloat16>(true);
}

static void product_of_f16()
{
    check_product<__half>(false);
}

// Operands are loaded by each lane from the layout that the ISA draws.
__global__ void product_of_bytes(const signed char *a, const signed char *b, int *d)
{
    int g = threadIdx.x / 4, t = threadIdx.x % 4, c[4] = {};
    const int *wa = (const int *)a, *wb = (const int *)b; // rows and columns of 32 bytes
    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, "
                 "{%8,%9}, {%0,%1,%2,%3};"
                 : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
                 : "r"(wa[g * 8 + t]), "r"(wa[(g + 8) * 8 + t]), "r"(wa[g * 8 + t + 4]),
                   "r"(wa[(g + 8) * 8 + t + 4]), "r"(wb[g * 8 + t]), "r"(wb[g * 8 + t + 4]));
    for (int i = 0; i < 4; i++)
        d[(g + i / 2 * 8) * 8 + t * 2 + i % 2] = c[i];
}

static void product_of_integers()
{
    Array<signed char> a(512), b(256);
    Array<int> d(128);
    for (int i = 0; i < 512; i++)
        a[i] = (signed char)random_word(i);
    for (int i = 0; i < 256; i++)
        b[i] = (signed char)random_word(i + 1000);
    a.up();
    b.up();
    product_of_bytes<<<1, 32>>>(a.device, b.device, d.device);
    d.down();
    for (int i = 0; i < 128; i++) {
        int wanted = 0;
        for (int k = 0; k < 32; k++)
            wanted += a[i / 8 * 32 + k] * b[i % 8 * 32 + k];
        EXPECT(d[i] == wanted, "element %d is %d, not %d", i, d[i], wanted);
    }
}

__global__ void product_of_tf32(const float *a, const float *b, float *d)
{
    int g = threadIdx.x / 4, t = threadIdx.x % 4;
    float c[4] = {};
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, "
                 "{%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(__float_as_uint(a[g * 8 + t])), "r"(__float_as_uint(a[(g + 8) * 8 + t])),
                   "r"(__float_as_uint(a[g * 8 + t + 4])),
                   "r"(__float_as_uint(a[(g + 8) * 8 + t + 4])), "r"(__float_as_uint(b[g * 8 + t])),
                   "r"(__float_as_uint(b[g * 8 + t + 4])));
    for (int i = 0; i < 4; i++)
        d[(g + i / 2 * 8) * 8 + t * 2 + i % 2] = c[i];
}

static void product_of_shortened_floats()
{
    Array<float> a(128), b(64), d(128);
    for (int i = 0; i < 128; i++)
        a[i] = (i * 29 + 3) % 100 - 50;
    for (int i = 0; i < 64; i++)
        b[i] = (i * 31 + 7) % 60 - 30;
    a.up();
    b.up();
    product_of_tf32<<<1, 32>>>(a.device, b.device, d.device);
    d.down();
    for (int i = 0; i < 128; i++) {
        float wanted = 0;
        for (int k = 0; k < 8; k++)
            wanted += a[i / 8 * 8 + k] * b[i % 8 * 8 + k];
        EXPECT(d[i] == wanted, "element %d is %g, not %g", i, d[i], wanted);
    }
}

// Four matrices are loaded transposed and stored again: each is transposed in place.
__global__ void transpose(const short *in, short *out)
{
    __shared__ alignas(16) short tile[4 * 64];
    int lane = threadIdx.x;
    for (int i = lane; i < 256; i += 32)
        tile[i] = in[i];
    __syncwarp();
    unsigned x[4], row = __cvta_generic_to_shared(&tile[lane * 8]);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
                 : "r"(row));
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%4], {%0,%1,%2,%3};" ::"r"(x[0]),
                 "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(row)
                 : "memory");
    __syncwarp();
    for (int i = lane; i < 256; i += 32)
        out[i] = tile[i];
}

static void matrices_are_transposed()
{
    Array<short> in(256), out(256);
    for (int i = 0; i < 256; i++)
        in[i] = i;
    in.up();
    transpose<<<1, 32>>>(in.device, out.device);
    out.down();
    for (int i = 0; i < 256; i++)
        EXPECT(out[i] == i / 64 * 64 + i % 8 * 8 + i / 8 % 8, "element %d is %d", i, out[i]);
}

MAIN(CASE(product_of_bf16), CASE(product_of_f16), CASE(product_of_integers),
     CASE(product_of_shortened_floats), CASE(matrices_are_transposed))
