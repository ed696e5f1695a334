/* SPDX-License-Identifier: Apache-2.0
 *
 * f32 and f64 beyond C's operators; part of number.h. A directed rounding sets the processor's
 * mode around one instruction, which is exact for every operation and input; the mode outside is
 * always nearest even.
 */
#ifndef PKB_CPU_FLOATING_H
#define PKB_CPU_FLOATING_H

#include "harness/cpu/device/bits.h"

/* MXCSR: exceptions masked, with the rounding in bits 13 and 14 */
static const uint32_t pkb_mxcsr_rn = 0x1f80, pkb_mxcsr_rm = 0x3f80, pkb_mxcsr_rp = 0x5f80,
                      pkb_mxcsr_rz = 0x7f80;

#define PKB_DIRECTED_2(name, instruction, type, suffix, mode)                \
    PKB_INLINE type pkb_##name##_##suffix##_##mode(type a, type b)           \
    {                                                                        \
        type result;                                                         \
        __asm__("vldmxcsr %3\n\t" instruction " %2, %1, %0\n\tvldmxcsr %4"   \
                : "=&x"(result)                                              \
                : "x"(a), "x"(b), "m"(pkb_mxcsr_##mode), "m"(pkb_mxcsr_rn)); \
        return result;                                                       \
    }
#define PKB_DIRECTED_3(instruction, type, suffix, mode)                      \
    PKB_INLINE type pkb_fma_##suffix##_##mode(type a, type b, type c)        \
    {                                                                        \
        __asm__("vldmxcsr %3\n\t" instruction " %2, %1, %0\n\tvldmxcsr %4"   \
                : "+&x"(c)                                                   \
                : "x"(a), "x"(b), "m"(pkb_mxcsr_##mode), "m"(pkb_mxcsr_rn)); \
        return c;                                                            \
    }
#define PKB_DIRECTED(type, suffix, s, mode)             \
    PKB_DIRECTED_2(add, "vadd" s, type, suffix, mode)   \
    PKB_DIRECTED_2(sub, "vsub" s, type, suffix, mode)   \
    PKB_DIRECTED_2(mul, "vmul" s, type, suffix, mode)   \
    PKB_DIRECTED_2(div, "vdiv" s, type, suffix, mode)   \
    PKB_DIRECTED_2(root, "vsqrt" s, type, suffix, mode) \
    PKB_DIRECTED_3("vfmadd231" s, type, suffix, mode)   \
    PKB_INLINE type pkb_rcp_##suffix##_##mode(type a)   \
    {                                                   \
        return pkb_div_##suffix##_##mode(1, a);         \
    }                                                   \
    PKB_INLINE type pkb_sqrt_##suffix##_##mode(type a)  \
    {                                                   \
        return pkb_root_##suffix##_##mode(a, a);        \
    }
PKB_DIRECTED(float, f32, "ss", rz)
PKB_DIRECTED(float, f32, "ss", rm)
PKB_DIRECTED(float, f32, "ss", rp)
PKB_DIRECTED(double, f64, "sd", rz)
PKB_DIRECTED(double, f64, "sd", rm)
PKB_DIRECTED(double, f64, "sd", rp)

/* By hand, because the builtin would call libm for negative operands to set errno. */
PKB_INLINE float pkb_sqrt_f32(float a)
{
    __asm__("vsqrtss %0, %0, %0" : "+x"(a));
    return a;
}

PKB_INLINE double pkb_sqrt_f64(double a)
{
    __asm__("vsqrtsd %0, %0, %0" : "+x"(a));
    return a;
}

PKB_INLINE float pkb_fma_f32(float a, float b, float c)
{
    return __builtin_fmaf(a, b, c);
}

PKB_INLINE double pkb_fma_f64(double a, double b, double c)
{
    return __builtin_fma(a, b, c);
}

/* ---- per type ---- */
#define PKB_NOT_A_NUMBER_f32 pkb_f32(0x7fffffffu)
#define PKB_NOT_A_NUMBER_f64 pkb_f64(0x7fffffffffffffffull)

/* min and max: of one NaN and a number the number, of two NaNs the canonical one; -0 < +0.
 * The _nan forms give NaN for any NaN, the _xorsign forms compare magnitudes and give the result
 * the sign that a product would have. */
#define PKB_FLOAT(type, suffix, b, bits, fraction)                                    \
    PKB_INLINE type pkb_abs_##suffix(type a)                                          \
    {                                                                                 \
        return pkb_##suffix(pkb_##b(a) & ~((uint##bits##_t)1 << (bits - 1)));         \
    }                                                                                 \
    PKB_INLINE type pkb_neg_##suffix(type a)                                          \
    {                                                                                 \
        return pkb_##suffix(pkb_##b(a) ^ (uint##bits##_t)1 << (bits - 1));            \
    }                                                                                 \
    PKB_INLINE type pkb_min_##suffix(type x, type y)                                  \
    {                                                                                 \
        if (__builtin_expect(!(x < y) && !(y < x), 0)) {                              \
            if (x == y)                                                               \
                return pkb_##suffix(pkb_##b(x) | pkb_##b(y));                         \
            return x == x ? x : y == y ? y : PKB_NOT_A_NUMBER_##suffix;               \
        }                                                                             \
        return x < y ? x : y;                                                         \
    }                                                                                 \
    PKB_INLINE type pkb_max_##suffix(type x, type y)                                  \
    {                                                                                 \
        if (__builtin_expect(!(x < y) && !(y < x), 0)) {                              \
            if (x == y)                                                               \
                return pkb_##suffix(pkb_##b(x) & pkb_##b(y));                         \
            return x == x ? x : y == y ? y : PKB_NOT_A_NUMBER_##suffix;               \
        }                                                                             \
        return x > y ? x : y;                                                         \
    }                                                                                 \
    PKB_INLINE type pkb_minnan_##suffix(type x, type y)                               \
    {                                                                                 \
        return x != x || y != y ? PKB_NOT_A_NUMBER_##suffix : pkb_min_##suffix(x, y); \
    }                                                                                 \
    PKB_INLINE type pkb_maxnan_##suffix(type x, type y)                               \
    {                                                                                 \
        return x != x || y != y ? PKB_NOT_A_NUMBER_##suffix : pkb_max_##suffix(x, y); \
    }                                                                                 \
    PKB_INLINE type pkb_xorsign_##suffix(type value, type x, type y)                  \
    {                                                                                 \
        uint##bits##_t sign = (uint##bits##_t)1 << (bits - 1);                        \
        if (value != value)                                                           \
            return value;                                                             \
        return pkb_##suffix(pkb_##b(value) | ((pkb_##b(x) ^ pkb_##b(y)) & sign));     \
    }                                                                                 \
    PKB_INLINE type pkb_relu_##suffix(type a)                                         \
    {                                                                                 \
        return a != a ? PKB_NOT_A_NUMBER_##suffix : a > 0 ? a : 0;                    \
    }                                                                                 \
    PKB_INLINE type pkb_sat_##suffix(type a)                                          \
    {                                                                                 \
        return a > 0 ? (a < 1 ? a : 1) : 0;                                           \
    }                                                                                 \
    PKB_INLINE type pkb_rcp_##suffix(type a)                                          \
    {                                                                                 \
        return 1 / a;                                                                 \
    }                                                                                 \
    PKB_INLINE type pkb_rni_##suffix(type a)                                          \
    {                                                                                 \
        return PKB_BUILTIN_##suffix(rint)(a);                                         \
    }                                                                                 \
    PKB_INLINE type pkb_rzi_##suffix(type a)                                          \
    {                                                                                 \
        return PKB_BUILTIN_##suffix(trunc)(a);                                        \
    }                                                                                 \
    PKB_INLINE type pkb_rmi_##suffix(type a)                                          \
    {                                                                                 \
        return PKB_BUILTIN_##suffix(floor)(a);                                        \
    }                                                                                 \
    PKB_INLINE type pkb_rpi_##suffix(type a)                                          \
    {                                                                                 \
        return PKB_BUILTIN_##suffix(ceil)(a);                                         \
    }                                                                                 \
    PKB_INLINE int pkb_is_finite_##suffix(type a)                                     \
    {                                                                                 \
        return a - a == 0;                                                            \
    }                                                                                 \
    PKB_INLINE int pkb_is_infinite_##suffix(type a)                                   \
    {                                                                                 \
        return a == a && a - a != 0;                                                  \
    }                                                                                 \
    PKB_INLINE int pkb_is_number_##suffix(type a)                                     \
    {                                                                                 \
        return a == a;                                                                \
    }                                                                                 \
    PKB_INLINE int pkb_is_notanumber_##suffix(type a)                                 \
    {                                                                                 \
        return a != a;                                                                \
    }                                                                                 \
    PKB_INLINE int pkb_is_subnormal_##suffix(type a)                                  \
    {                                                                                 \
        uint##bits##_t magnitude = pkb_##b(a) << 1 >> 1;                              \
        return magnitude != 0 && magnitude >> fraction == 0;                          \
    }                                                                                 \
    PKB_INLINE int pkb_is_normal_##suffix(type a)                                     \
    {                                                                                 \
        return a - a == 0 && pkb_##b(a) << 1 >> 1 >> fraction != 0;                   \
    }
#define PKB_BUILTIN_f32(name) __builtin_##name##f
#define PKB_BUILTIN_f64(name) __builtin_##name
PKB_FLOAT(float, f32, b32, 32, 23)
PKB_FLOAT(double, f64, b64, 64, 52)

PKB_INLINE float pkb_minxorsign_f32(float x, float y)
{
    return pkb_xorsign_f32(pkb_min_f32(pkb_abs_f32(x), pkb_abs_f32(y)), x, y);
}

PKB_INLINE float pkb_maxxorsign_f32(float x, float y)
{
    return pkb_xorsign_f32(pkb_max_f32(pkb_abs_f32(x), pkb_abs_f32(y)), x, y);
}

PKB_INLINE float pkb_minnanxorsign_f32(float x, float y)
{
    return pkb_xorsign_f32(pkb_minnan_f32(pkb_abs_f32(x), pkb_abs_f32(y)), x, y);
}

PKB_INLINE float pkb_maxnanxorsign_f32(float x, float y)
{
    return pkb_xorsign_f32(pkb_maxnan_f32(pkb_abs_f32(x), pkb_abs_f32(y)), x, y);
}

/* .ftz: a subnormal becomes zero and keeps its sign. */
PKB_INLINE float pkb_ftz_f32(float a)
{
    uint32_t bits = pkb_b32(a);
    return (bits & 0x7f800000u) == 0 ? pkb_f32(bits & 0x80000000u) : a;
}

PKB_INLINE float pkb_rsqrt_f32(float a)
{
    return (float)(1 / pkb_sqrt_f64(a));
}

PKB_INLINE double pkb_rsqrt_f64(double a)
{
    return 1 / pkb_sqrt_f64(a);
}

/* ---- the functions of the special function unit: computed in double by series that are good to
 * 1e-9 or better, rounded once ---- */

/* 2^x for |x| < 1020 */
PKB_INLINE double pkb_power_of_two(double x)
{
    double whole = __builtin_rint(x), r = (x - whole) * 0.69314718055994530942;
    double sum = 1.0 / 39916800;
    sum = sum * r + 1.0 / 3628800;
    sum = sum * r + 1.0 / 362880;
    sum = sum * r + 1.0 / 40320;
    sum = sum * r + 1.0 / 5040;
    sum = sum * r + 1.0 / 720;
    sum = sum * r + 1.0 / 120;
    sum = sum * r + 1.0 / 24;
    sum = sum * r + 1.0 / 6;
    sum = sum * r + 0.5;
    sum = sum * r + 1;
    sum = sum * r + 1;
    return sum * pkb_f64((uint64_t)((int64_t)whole + 1023) << 52);
}

PKB_INLINE float pkb_ex2_f32(float x)
{
    if (x != x)
        return PKB_NOT_A_NUMBER_f32;
    double clamped = x > 200 ? 200 : x < -200 ? -200 : x;
    return (float)pkb_power_of_two(clamped);
}

PKB_OUTLINE float pkb_lg2_f32(float a)
{
    if (!(a > 0) || a - a != 0)
        return a == 0 ? -__builtin_inff() : a > 0 ? a : PKB_NOT_A_NUMBER_f32;
    uint64_t bits = pkb_b64(a); /* a double is normal where the float is not */
    int64_t exponent = (int64_t)(bits >> 52) - 1023;
    double m = pkb_f64((bits & 0xfffffffffffffull) | 1023ull << 52);
    if (m > 1.41421356237309504880) {
        m *= 0.5;
        exponent++;
    }
    double s = (m - 1) / (m + 1), square = s * s, sum = 0;
    for (int i = 19; i >= 1; i -= 2)
        sum = sum * square + 1.0 / i;
    return (float)((double)exponent + 2 * s * sum * 1.44269504088896340736);
}

/* sin(x + quarter * pi/2), reduced by pi/2 in three parts */
PKB_OUTLINE float pkb_sine(float a, int64_t quarter)
{
    if (a - a != 0)
        return PKB_NOT_A_NUMBER_f32;
    double x = a, count = __builtin_rint(x * 0.63661977236758134308);
    double r = __builtin_fma(count, -1.57079632679489655800, x);
    r = __builtin_fma(count, -6.12323399573676603587e-17, r);
    r = __builtin_fma(count, 1.49738490485916983e-33, r);
    /* Beyond 2^62 the count is a multiple of four, and the result anybody's guess. */
    quarter += __builtin_fabs(count) < 4e18 ? (int64_t)count : 0;
    double square = r * r, sum;
    if (quarter & 1) {
        sum =
            1 - square / 2 *
                    (1 - square / 12 *
                             (1 - square / 30 *
                                      (1 - square / 56 * (1 - square / 90 * (1 - square / 132)))));
    } else {
        sum = r *
              (1 -
               square / 6 *
                   (1 - square / 20 *
                            (1 - square / 42 *
                                     (1 - square / 72 * (1 - square / 110 * (1 - square / 156))))));
    }
    return (float)(quarter & 2 ? -sum : sum);
}

PKB_INLINE float pkb_sin_f32(float a)
{
    return a == 0 ? a : pkb_sine(a, 0);
}

PKB_INLINE float pkb_cos_f32(float a)
{
    return pkb_sine(a, 1);
}

PKB_OUTLINE float pkb_tanh_f32(float a)
{
    if (a != a)
        return PKB_NOT_A_NUMBER_f32;
    double x = a > 20 ? 20 : a < -20 ? -20 : a;
    if (x > -0.01 && x < 0.01) /* the quotient would cancel */
        return (float)(x - x * x * x / 3 + 2 * x * x * x * x * x / 15);
    double e = pkb_power_of_two(2 * x * 1.44269504088896340736);
    return (float)((e - 1) / (e + 1));
}

#endif
