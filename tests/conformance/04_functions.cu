// SPDX-License-Identifier: Apache-2.0
// Parameters and returns by value, recursion, function tables, local arrays, wide loads.
#include "check.cuh"

struct Big {
    double d[5];
    int i;
    char c[3];
};

struct Small {
    short a;
    long long b;
    char c;
};

__device__ __noinline__ Big twice(Big b, int add)
{
    for (int k = 0; k < 5; k++)
        b.d[k] = 2 * b.d[k] + add;
    b.i *= 2;
    b.c[2] = b.c[0] + b.c[1];
    return b;
}

__global__ void struct_kernel(char before, Big big, Small small, Big *out, Small *out_small)
{
    *out = twice(big, before);
    small.b += small.a;
    small.c++;
    *out_small = small;
}

static void structs_by_value()
{
    Array<Big> out(1);
    Array<Small> small(1);
    Big big = {{1, 2, 3, 4, 5}, 21, {1, 2, 9}};

    struct_kernel<<<1, 1>>>(3, big, Small{7, 1ll << 40, 4}, out.device, small.device);
    out.down(), small.down();
    for (int k = 0; k < 5; k++)
        EXPECT(out[0].d[k] == 2 * (k + 1) + 3, "d[%d] is %g", k, out[0].d[k]);
    EXPECT(out[0].i == 42 && out[0].c[2] == 3, "i %d, c %d", out[0].i, out[0].c[2]);
    EXPECT(small[0].a == 7 && small[0].b == (1ll << 40) + 7 && small[0].c == 5, "small differs");
}

__device__ __noinline__ unsigned ackermann(unsigned m, unsigned n)
{
    if (m == 0)
        return n + 1;
    return n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}

__global__ void recursion_kernel(unsigned *out)
{
    out[threadIdx.x] = ackermann(2, threadIdx.x);
}

static void recursion()
{
    Array<unsigned> out(32);

    EXPECT_OK(cudaDeviceSetLimit(cudaLimitStackSize, 32 << 10)); // 1 KiB is not enough on a GPU
    recursion_kernel<<<1, 32>>>(out.device);
    out.down();
    for (int i = 0; i < 32; i++)
        EXPECT(out[i] == 2u * i + 3, "A(2,%d) is %u", i, out[i]);
}

typedef int binary(int, int);
__device__ __noinline__ int plus_(int a, int b)
{
    return a + b;
}
__device__ __noinline__ int minus_(int a, int b)
{
    return a - b;
}
__device__ __noinline__ int times_(int a, int b)
{
    return a * b;
}
__device__ binary *table[] = {plus_, minus_, times_};

__global__ void table_kernel(int *out)
{
    out[threadIdx.x] = table[threadIdx.x % 3](threadIdx.x, 5);
}

static void function_table()
{
    Array<int> out(96);
    table_kernel<<<1, 96>>>(out.device);
    out.down();
    for (int i = 0; i < 96; i++)
        EXPECT(out[i] == (i % 3 == 0   ? i + 5
                          : i % 3 == 1 ? i - 5
                                       : i * 5),
               "entry %d is %d", i, out[i]);
}

struct Shape {
    __device__ virtual float area() const = 0;
};
struct Square : Shape {
    float side;
    __device__ explicit Square(float s) : side(s)
    {
    }
    __device__ float area() const override
    {
        return side * side;
    }
};
struct Line : Shape {
    __device__ float area() const override
    {
        return 0;
    }
};

__global__ void virtual_kernel(float *out, int which)
{
    Square square(3);
    Line line;
    Shape *shape = which == (int)threadIdx.x ? (Shape *)&line : (Shape *)&square;
    out[threadIdx.x] = shape->area();
}

static void virtual_call()
{
    Array<float> out(4);
    virtual_kernel<<<1, 4>>>(out.device, 2);
    out.down();
    EXPECT(out[0] == 9 && out[2] == 0 && out[3] == 9, "%g %g %g", out[0], out[2], out[3]);
}

__global__ void local_kernel(const int *keys, int *out, int n)
{
    int histogram[64];
    for (int i = 0; i < 64; i++)
        histogram[i] = 0;
    for (int i = 0; i < n; i++)
        histogram[(keys[i] + threadIdx.x) & 63]++;
    int best = 0;
    for (int i = 1; i < 64; i++)
        if (histogram[i] > histogram[best])
            best = i;
    out[threadIdx.x] = best;
}

static void local_arrays()
{
    Array<int> keys(1000), out(64);
    int histogram[64] = {0}, best = 0;

    for (int i = 0; i < 1000; i++)
        histogram[keys[i] = (int)(random_word(i) % 64)]++;
    for (int i = 1; i < 64; i++)
        best = histogram[i] > histogram[best] ? i : best;
    keys.up();
    local_kernel<<<1, 64>>>(keys.device, out.device, 1000);
    out.down();
    EXPECT(out[0] == best, "most frequent is %d, not %d", out[0], best);
    int want = 0, top = -1;
    for (int i = 0; i < 64; i++)
        if (histogram[(i - 5) & 63] > top)
            top = histogram[(i - 5) & 63], want = i;
    EXPECT(out[5] == want, "shifted by 5: %d, not %d", out[5], want);
}

__global__ void vector_kernel(const float4 *a, float4 *b, const ushort4 *s, uint4 *packed)
{
    float4 v = a[threadIdx.x];
    b[threadIdx.x] = make_float4(v.w, v.z, v.y, v.x);
    ushort4 h = s[threadIdx.x];
    packed[threadIdx.x] = make_uint4(h.x, h.y | (unsigned)h.z << 16, h.w, threadIdx.x);
}

static void vector_accesses()
{
    Array<float4> a(8), b(8);
    Array<ushort4> s(8);
    Array<uint4> packed(8);

    for (int i = 0; i < 8; i++) {
        a[i] = make_float4(i, i + .25f, i + .5f, i + .75f);
        s[i] = make_ushort4(i, 100 + i, 200 + i, 65535 - i);
    }
    a.up(), s.up();
    vector_kernel<<<1, 8>>>(a.device, b.device, s.device, packed.device);
    b.down(), packed.down();
    for (int i = 0; i < 8; i++) {
        EXPECT(b[i].x == i + .75f && b[i].w == i, "float4 %d", i);
        EXPECT(packed[i].y == (100u + i | (200u + i) << 16) && packed[i].z == 65535u - i,
               "uint4 %d", i);
    }
}

template <int N> struct Holder {
    int v[N];
};

__global__ void large_parameter(const __grid_constant__ Holder<1000> h, int *out, int index)
{
    const int *p = h.v;
    out[threadIdx.x] = p[(index + threadIdx.x) % 1000];
}

static void large_parameters()
{
    static Holder<1000> h;
    Array<int> out(64);
    for (int i = 0; i < 1000; i++)
        h.v[i] = i * i;
    large_parameter<<<1, 64>>>(h, out.device, 970);
    out.down();
    for (int i = 0; i < 64; i++)
        EXPECT(out[i] == (970 + i) % 1000 * ((970 + i) % 1000), "element %d is %d", i, out[i]);
}

// Labels repeat where inline PTX is inlined several times; predicates with a complement.
__global__ void inline_ptx(int *out)
{
    int total = 0;
    for (int i = 0; i < 3; i++) {
        int v = (int)threadIdx.x + i;
        asm volatile(
            "{\n.reg .pred p, q;\nsetp.lt.s32 p|q, %0, 10;\n@p add.s32 %0, %0, 100;\n@q bra DONE;\n"
            "add.s32 %0, %0, 1000;\nDONE:\n}"
            : "+r"(v));
        total += v;
    }
    int w = (int)threadIdx.x;
    asm volatile("{\n.reg .pred p;\nsetp.ge.s32 p, %0, 16;\n@p bra DONE;\nneg.s32 %0, %0;\nDONE:\n}"
                 : "+r"(w));
    out[threadIdx.x] = total * 100 + w;
}

static void inline_ptx_scopes()
{
    Array<int> out(32);
    inline_ptx<<<1, 32>>>(out.device);
    out.down();
    for (int t = 0; t < 32; t++) {
        int total = 0;
        for (int i = 0; i < 3; i++)
            total += t + i < 10 ? t + i + 1100 : t + i;
        int want = total * 100 + (t >= 16 ? t : -t);
        EXPECT(out[t] == want, "thread %d: %d, not %d", t, out[t], want);
    }
}

MAIN(CASE(structs_by_value), CASE(recursion), CASE(function_table), CASE(virtual_call),
     CASE(local_arrays), CASE(vector_accesses), CASE(large_parameters), CASE(inline_ptx_scopes))
