// SPDX-License-Identifier: Apache-2.0
// Comparisons, minima, conversions over NaN, zeros, infinities, subnormals and ties; rounding.
#include "check.cuh"

#include <cfenv>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

enum { N = 2048 };

static float edge(int i)
{
    static const uint32_t edges[] = {0,          0x80000000, 1,          0x80000001, 0x00800000,
                                     0x007fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc00000,
                                     0x7f7fffff, 0xff7fffff, 0x3f800000, 0xbf800000, 0x3f000000,
                                     0x3fc00000, 0x40200000, 0xc0200000, 0x4f000000, 0xcf000000,
                                     0x4f800000, 0x5f000000, 0x4effffff, 0x33000001};
    const int count = sizeof edges / sizeof edges[0];
    return float_of(i % 3 == 0 ? edges[i / 3 % count] : (uint32_t)random_word(i * 3 + 1));
}

template <class Op>
__global__ void float_kernel(const float *a, const float *b, const float *c, uint32_t *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = Op::device(a[i], b[i], c[i]);
}

// Op::is_float: results are floats, of which NaNs compare equal.
template <class Op> static void compare()
{
    Array<float> a(N), b(N), c(N);
    Array<uint32_t> out(N);

    for (int i = 0; i < N; i++) {
        a[i] = edge(i);
        b[i] = edge(i / 24 * 3 + i % 7);
        c[i] = edge(i / 5 * 3);
    }
    a.up(), b.up(), c.up();
    float_kernel<Op><<<N / 64, 64>>>(a.device, b.device, c.device, out.device);
    out.down();
    for (int i = 0; i < N; i++) {
        uint32_t want = Op::host(a[i], b[i], c[i]);
        bool is_same = Op::is_float ? same_float(float_of(out[i]), float_of(want)) : out[i] == want;
        EXPECT(is_same, "op(%a, %a, %a) gives %08x, not %08x", a[i], b[i], c[i], out[i], want);
    }
}

#define OP(name, float_result, device_body, ...)                                   \
    struct name##_op {                                                             \
        static const bool is_float = float_result;                                 \
        static __device__ uint32_t device(float a, float b, float c)               \
        {                                                                          \
            (void)b, (void)c;                                                      \
            device_body                                                            \
        }                                                                          \
        static uint32_t host(volatile float a, volatile float b, volatile float c) \
        {                                                                          \
            (void)b, (void)c;                                                      \
            __VA_ARGS__                                                            \
        }                                                                          \
    };                                                                             \
    static void name()                                                             \
    {                                                                              \
        compare<name##_op>();                                                      \
    }

static uint32_t smaller(float a, float b)
{
    if (std::isnan(a))
        return bits_of(b);
    if (std::isnan(b))
        return bits_of(a);
    if (a == 0 && b == 0)
        return bits_of(std::signbit(a) ? a : b);
    return bits_of(a < b ? a : b);
}

static uint32_t rounded(int mode, float a, float b, float c, char op)
{
    fesetround(mode);
    volatile float x = a, y = b, z = c, r = 0;
    if (op == '+')
        r = x + y;
    else if (op == '*')
        r = x * y;
    else if (op == '/')
        r = x / y;
    else if (op == 's')
        r = sqrtf(x);
    else
        r = fmaf(x, y, z);
    fesetround(FE_TONEAREST);
    return bits_of(r);
}

static int saturated(float a, float lowest, float highest)
{
    return std::isnan(a) ? 0 : a <= lowest ? (int)lowest : a >= highest ? 0x7fffffff : (int)a;
}

OP(minimum_prefers_numbers, true, return __float_as_uint(fminf(a, b));, return smaller(a, b);)
OP(minimum_propagates_nan, true, float r; asm("min.NaN.f32 %0, %1, %2;"
                                              : "=f"(r)
                                              : "f"(a), "f"(b));
   return __float_as_uint(r);, return std::isnan(a) || std::isnan(b) ? 0x7fffffff : smaller(a, b);)
OP(comparisons_with_nan, false,
   return (a < b) | (a <= b) << 1 | (a > b) << 2 | (a >= b) << 3 | (a == b) << 4 | (a != b) << 5 |
          !(a < b) << 6 | isnan(a) << 7;
   , return (a < b) | (a <= b) << 1 | (a > b) << 2 | (a >= b) << 3 | (a == b) << 4 | (a != b) << 5 |
            !(a < b) << 6 | (int)std::isnan(a) << 7;)
OP(ordered_not_equal_is_false_on_nan, false, int r;
   asm("{ .reg .pred p; setp.ne.f32 p, %1, %2; selp.s32 %0, 1, 0, p; }"
       : "=r"(r)
       : "f"(a), "f"(b));
   return r;, return !std::isnan(a) && !std::isnan(b) && a != b;)
OP(add_directed, true, return __float_as_uint(__fadd_rz(a, b));
   , return rounded(FE_TOWARDZERO, a, b, 0, '+');)
OP(add_up, true, return __float_as_uint(__fadd_ru(a, b));, return rounded(FE_UPWARD, a, b, 0, '+');)
OP(add_down, true, return __float_as_uint(__fadd_rd(a, b));
   , return rounded(FE_DOWNWARD, a, b, 0, '+');)
OP(mul_directed, true, return __float_as_uint(__fmul_rd(a, b));
   , return rounded(FE_DOWNWARD, a, b, 0, '*');)
OP(fma_nearest, true, return __float_as_uint(fmaf(a, b, c));, return bits_of(fmaf(a, b, c));)
OP(fma_down, true, return __float_as_uint(__fmaf_rd(a, b, c));
   , return rounded(FE_DOWNWARD, a, b, c, 'f');)
OP(fma_up, true, return __float_as_uint(__fmaf_ru(a, b, c));
   , return rounded(FE_UPWARD, a, b, c, 'f');)
OP(divide_nearest, true, return __float_as_uint(__fdiv_rn(a, b));
   , return rounded(FE_TONEAREST, a, b, 0, '/');)
OP(root_nearest, true, return __float_as_uint(__fsqrt_rn(a));
   , return rounded(FE_TONEAREST, a, b, 0, 's');)
OP(float_to_int_saturates, false, return __float2int_rz(a);
   , return saturated(a, -0x1p31f, 0x1p31f);)
OP(float_to_unsigned_saturates, false, return __float2uint_rz(a);
   , return std::isnan(a) || a <= 0 ? 0
            : a >= 0x1p32f          ? ~0u
                                    : (uint32_t)a;)
OP(float_to_int_ties_to_even, false, return __float2int_rn(a);
   , return std::isnan(a) ? 0 : saturated(rintf(a), -0x1p31f, 0x1p31f);)
OP(float_to_int_floor_ceil, false, return __float2int_rd(a) ^ __float2int_ru(b);
   , return saturated(floorf(a), -0x1p31f, 0x1p31f) ^ saturated(ceilf(b), -0x1p31f, 0x1p31f);)
OP(round_to_integral, true, return __float_as_uint(truncf(a) + floorf(b) - rintf(c));
   , volatile float t = truncf(a), f = floorf(b), r = rintf(c), s = t + f; return bits_of(s - r);)
OP(flush_subnormals, true, float r; asm("add.ftz.f32 %0, %1, %2;"
                                        : "=f"(r)
                                        : "f"(a), "f"(b));
   return __float_as_uint(r);, float x = std::fpclassify(a) == FP_SUBNORMAL ? copysignf(0, a) : a,
                             y = std::fpclassify(b) == FP_SUBNORMAL ? copysignf(0, b) : b;
   float r = x + y; return bits_of(std::fpclassify(r) == FP_SUBNORMAL ? copysignf(0, r) : r);)
OP(saturate_to_unit, true, return __float_as_uint(__saturatef(a));
   , return bits_of(std::isnan(a) || a <= 0 ? 0.0f
                    : a > 1                 ? 1.0f
                                            : a);)
OP(int_to_float, true,
   return __float_as_uint((float)__float_as_int(a)) ^ __float_as_uint((float)__float_as_uint(b));
   , return bits_of((float)(int)bits_of(a)) ^ bits_of((float)bits_of(b));)
// Of a NaN, abs and neg may give any other.
OP(copy_sign_and_negate, true, float d = isnan(c) ? 1.0f : c;
   return __float_as_uint(copysignf(a, b)) ^ __float_as_uint(-fabsf(d));
   , float d = std::isnan(c) ? 1.0f : c; return bits_of(copysignf(a, b)) ^ bits_of(-fabsf(d));)
OP(exponential_within_two_ulp, false, float x = fabsf(a) < 80 ? a : 1.0f; float r = expf(x);
   double e = exp((double)x); return fabs((double)r - e) <= 2.5e-7 * e;, return 1;)
OP(sine_and_log_are_close, false, float x = fabsf(a) < 1000 && fabsf(a) > 1e-30f ? fabsf(a) : 1.5f;
   return fabs((double)sinf(x) - sin((double)x)) < 1e-6 &&
          fabs((double)logf(x) - log((double)x)) <= 1e-6 * (1 + fabs(log((double)x)));
   , return 1;)

// Doubles pass through the same rules; a few suffice.
__global__ void double_kernel(const double *a, double *out, long long *whole)
{
    int i = threadIdx.x;
    out[4 * i] = fma(a[i], a[i], -1.0);
    out[4 * i + 1] = sqrt(fabs(a[i]));
    out[4 * i + 2] = 1.0 / a[i];
    out[4 * i + 3] = (double)(float)a[i];
    whole[i] = __double2ll_rz(a[i]);
}

static void double_arithmetic()
{
    Array<double> a(64), out(256);
    Array<long long> whole(64);

    for (int i = 0; i < 64; i++)
        a[i] = (double)(long long)random_word(i * 5 + 3) / (i % 2 ? 1e10 : 3.0);
    a.up();
    double_kernel<<<1, 64>>>(a.device, out.device, whole.device);
    out.down(), whole.down();
    for (int i = 0; i < 64; i++) {
        EXPECT(out[4 * i] == fma(a[i], a[i], -1.0), "fma of %a", a[i]);
        EXPECT(out[4 * i + 1] == sqrt(fabs(a[i])), "sqrt of %a", a[i]);
        EXPECT(out[4 * i + 2] == 1.0 / a[i], "1 / %a", a[i]);
        EXPECT(out[4 * i + 3] == (double)(float)a[i], "narrowing of %a", a[i]);
        EXPECT(whole[i] == (long long)a[i], "whole part of %a", a[i]);
    }
}

// All half and bfloat16 values to float and back; and the rounding of floats to both.
__global__ void half_kernel(uint32_t *to_float, unsigned short *back)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    float h = __half2float(__ushort_as_half((unsigned short)i));
    float b = __bfloat162float(__ushort_as_bfloat16((unsigned short)i));
    to_float[2 * i] = __float_as_uint(h);
    to_float[2 * i + 1] = __float_as_uint(b);
    back[2 * i] = __half_as_ushort(__float2half_rn(h));
    back[2 * i + 1] = __bfloat16_as_ushort(__float2bfloat16_rn(b));
}

static float half_value(uint32_t bits)
{
    uint32_t exponent = bits >> 10 & 31, fraction = bits & 1023;
    float sign = bits >> 15 ? -1.0f : 1.0f;
    if (exponent == 31)
        return fraction ? NAN : sign * INFINITY;
    return sign * (exponent ? ldexpf(1024 + fraction, (int)exponent - 25) : ldexpf(fraction, -24));
}

static void half_and_bfloat_exhaustive()
{
    Array<uint32_t> to_float(131072);
    Array<unsigned short> back(131072);

    half_kernel<<<256, 256>>>(to_float.device, back.device);
    to_float.down(), back.down();
    for (uint32_t i = 0; i < 65536; i++) {
        float h = half_value(i), b = float_of(i << 16);
        EXPECT(same_float(float_of(to_float[2 * i]), h), "half %04x", i);
        EXPECT(same_float(float_of(to_float[2 * i + 1]), b), "bfloat16 %04x", i);
        EXPECT(std::isnan(h) || back[2 * i] == i, "half %04x and back gives %04x", i, back[2 * i]);
        EXPECT(std::isnan(b) || back[2 * i + 1] == i, "bfloat16 %04x and back gives %04x", i,
               back[2 * i + 1]);
    }
}

// x * y + 1 rounded once to bfloat16: to odd in double, which then is far more than enough bits.
static uint32_t bfloat_of_odd(float x, float y)
{
    double product = (double)x * y, sum = product + 1.0, t = sum - product;
    double error = (product - (sum - t)) + (1.0 - t);
    uint64_t bits;

    if (std::isnan(sum))
        return 0x7fff;
    memcpy(&bits, &sum, 8);
    if (!std::isinf(sum) && error != 0 && (bits & 1) == 0)
        bits = (error > 0) == (sum > 0) ? bits + 1 : bits - 1;
    memcpy(&sum, &bits, 8);
    float f = (float)sum;
    uint32_t u = bits_of(f);
    if ((double)f != sum && !std::isinf(f))
        u = (fabs((double)f) > fabs(sum) ? u - 1 : u) | 1;
    return (u + 0x7fff + (u >> 16 & 1)) >> 16;
}

OP(bfloat16_rounds_to_even, false, return __bfloat16_as_ushort(__float2bfloat16_rn(a));
   , uint32_t u = bits_of(a); if (std::isnan(a)) return 0x7fff;
   return (u + 0x7fff + (u >> 16 & 1)) >> 16;)
OP(half_rounds_to_even, false, return __half_as_ushort(__float2half_rn(a));
   , if (std::isnan(a)) return 0x7fff; _Float16 h = (_Float16)(float)a; unsigned short u;
   memcpy(&u, &h, 2); return u;)
OP(bfloat16_pairs_keep_their_order, false, __nv_bfloat162 p = __floats2bfloat162_rn(1.5f, -2.0f);
   return __bfloat16_as_ushort(p.x) | (uint32_t)__bfloat16_as_ushort(p.y) << 16;
   , return 0xc0003fc0;)
OP(
    bfloat16_fma_rounds_once, false, __nv_bfloat16 x = __float2bfloat16(a);
    __nv_bfloat16 y = __float2bfloat16(b); __nv_bfloat16 r = __hfma(x, y, __float2bfloat16(1.0f));
    return isnan(__bfloat162float(r)) ? 0x7fff : __bfloat16_as_ushort(r);
    , auto narrow =
          [](float v) {
              uint32_t u = bits_of(v);
              return std::isnan(v) ? NAN : float_of((u + 0x7fff + (u >> 16 & 1)) & 0xffff0000);
          };
    return bfloat_of_odd(narrow(a), narrow(b));)

MAIN(CASE(minimum_prefers_numbers), CASE(minimum_propagates_nan), CASE(comparisons_with_nan),
     CASE(ordered_not_equal_is_false_on_nan), CASE(add_directed), CASE(add_up), CASE(add_down),
     CASE(mul_directed), CASE(fma_nearest), CASE(fma_down), CASE(fma_up), CASE(divide_nearest),
     CASE(root_nearest), CASE(float_to_int_saturates), CASE(float_to_unsigned_saturates),
     CASE(float_to_int_ties_to_even), CASE(float_to_int_floor_ceil), CASE(round_to_integral),
     CASE(flush_subnormals), CASE(saturate_to_unit), CASE(int_to_float), CASE(copy_sign_and_negate),
     CASE(exponential_within_two_ulp), CASE(sine_and_log_are_close), CASE(double_arithmetic),
     CASE(half_and_bfloat_exhaustive), CASE(bfloat16_rounds_to_even), CASE(half_rounds_to_even),
     CASE(bfloat16_pairs_keep_their_order), CASE(bfloat16_fma_rounds_once))
