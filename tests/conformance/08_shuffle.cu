// SPDX-License-Identifier: Apache-2.0
// Shuffles: every mode, width and distance, partial masks, two masks at once, lanes that left.
#include "check.cuh"

static int wanted(int mode, int lane, int b, int width)
{
    int low = lane & ~(width - 1), source = lane;
    if (mode == 0)
        source = lane - b < low ? lane : lane - b;
    else if (mode == 1)
        source = (lane & (width - 1)) + b >= width ? lane : lane + b;
    else if (mode == 2)
        source = (lane ^ b) >= low + width ? lane : lane ^ b;
    else
        source = low + (b & (width - 1));
    return source;
}

__global__ void all_modes(int *out)
{
    int v = threadIdx.x, at = threadIdx.x;
    for (int width = 1; width <= 32; width *= 2)
        for (int b = 0; b < 32; b++) {
            out[at] = __shfl_up_sync(~0u, v, b, width);
            out[at + 32] = __shfl_down_sync(~0u, v, b, width);
            out[at + 64] = __shfl_xor_sync(~0u, v, b, width);
            out[at + 96] = __shfl_sync(~0u, v, b, width);
            at += 128;
        }
}

static void modes_widths_distances()
{
    Array<int> out(6 * 32 * 128);
    int at = 0;

    all_modes<<<1, 32>>>(out.device);
    out.down();
    for (int width = 1; width <= 32; width *= 2)
        for (int b = 0; b < 32; b++, at += 128)
            for (int mode = 0; mode < 4; mode++)
                for (int lane = 0; lane < 32; lane++) {
                    int got = out[at + mode * 32 + lane];
                    EXPECT(got == wanted(mode, lane, b, width), "mode %d width %d b %d lane %d: %d",
                           mode, width, b, lane, got);
                }
}

__global__ void predicates(int *out)
{
    int value = threadIdx.x, got, valid;
    asm volatile("{ .reg .pred p; shfl.sync.down.b32 %0|p, %2, 5, 0x1f, -1; selp.s32 %1, 1, 0, p; }"
                 : "=r"(got), "=r"(valid)
                 : "r"(value));
    out[threadIdx.x] = got * 2 + valid;
}

static void validity_predicate()
{
    Array<int> out(32);
    predicates<<<1, 32>>>(out.device);
    out.down();
    for (int i = 0; i < 32; i++)
        EXPECT(out[i] == (i + 5 < 32 ? (i + 5) * 2 + 1 : i * 2), "lane %d: %d", i, out[i]);
}

__global__ void partial(int *out)
{
    int lane = threadIdx.x % 32;
    if (lane < 12) {
        int v = lane;
        for (int i = 8; i > 0; i /= 2) {
            int other = __shfl_down_sync(0xfff, v, i, 16);
            v += lane + i < 12 ? other : 0;
        }
        out[threadIdx.x] = v;
    } else {
        out[threadIdx.x] = __shfl_sync(0xfffff000, lane * 3, 31);
    }
}

static void both_sides_of_a_branch()
{
    Array<int> out(64);
    partial<<<1, 64>>>(out.device);
    out.down();
    EXPECT(out[0] == 66 && out[32] == 66, "sum %d %d", out[0], out[32]);
    for (int i = 12; i < 32; i++)
        EXPECT(out[i] == 93, "lane %d: %d", i, out[i]);
}

// The halves overlap neither in lanes nor in time, but quarters use masks inside the halves.
__global__ void nested(int *out)
{
    int lane = threadIdx.x, v = lane;
    unsigned half = lane < 16 ? 0xffffu : 0xffff0000u, quarter = 0xffu << (lane / 8 * 8);
    if (lane % 16 < 8)
        v += __shfl_xor_sync(quarter, v, 1);
    v += __shfl_xor_sync(half, v, 8);
    v += __shfl_xor_sync(~0u, v, 16);
    out[lane] = v;
}

static void masks_inside_masks()
{
    Array<int> out(32);
    int v[32], w[32];

    nested<<<1, 32>>>(out.device);
    out.down();
    for (int i = 0; i < 32; i++)
        v[i] = i % 16 < 8 ? i + (i ^ 1) : i;
    for (int step = 8; step <= 16; step *= 2) {
        for (int i = 0; i < 32; i++)
            w[i] = v[i] + v[i ^ step];
        memcpy(v, w, sizeof v);
    }
    for (int i = 0; i < 32; i++)
        EXPECT(out[i] == v[i], "lane %d: %d, not %d", i, out[i], v[i]);
}

__global__ void some_left(int *out)
{
    int lane = threadIdx.x;
    if (lane % 4 == 3)
        return;
    unsigned mask = 0x77777777;
    out[lane] = __shfl_sync(mask, lane + 100, lane / 4 * 4 + 1);
    // The full mask names lanes that have left; they are not waited for.
    __syncwarp();
    out[lane + 32] = __shfl_sync(~0u, lane, 2);
}

static void lanes_that_left()
{
    Array<int> out(64);
    some_left<<<1, 32>>>(out.device);
    out.down();
    for (int i = 0; i < 32; i++)
        if (i % 4 != 3)
            EXPECT(out[i] == i / 4 * 4 + 101 && out[32 + i] == 2, "lane %d: %d %d", i, out[i],
                   out[32 + i]);
}

__global__ void wide(double *d, long long *l, float *f)
{
    d[threadIdx.x] = __shfl_xor_sync(~0u, threadIdx.x * 1.25, 3);
    l[threadIdx.x] = __shfl_down_sync(~0u, (long long)threadIdx.x << 40, 1);
    f[threadIdx.x] = __shfl_sync(~0u, threadIdx.x * .5f, 7, 8);
}

static void wide_types()
{
    Array<double> d(32);
    Array<long long> l(32);
    Array<float> f(32);
    wide<<<1, 32>>>(d.device, l.device, f.device);
    d.down(), l.down(), f.down();
    for (int i = 0; i < 32; i++)
        EXPECT(d[i] == (i ^ 3) * 1.25 && l[i] == (long long)(i < 31 ? i + 1 : 31) << 40 &&
                   f[i] == (i / 8 * 8 + 7) * .5f,
               "lane %d", i);
}

MAIN(CASE(modes_widths_distances), CASE(validity_predicate), CASE(both_sides_of_a_branch),
     CASE(masks_inside_masks), CASE(lanes_that_left), CASE(wide_types))
