/* SPDX-License-Identifier: Apache-2.0
 *
 * Conversions between integers and floats, tf32 and fp8; part of number.h.
 */
#ifndef PKB_CPU_CONVERT_H
#define PKB_CPU_CONVERT_H

#include "harness/cpu/device/half.h"

/* ---- integral doubles to integers: out of range saturates, NaN gives `not_a_number` ---- */
#define PKB_TO_INTEGER(suffix, type, low, high, bound)                           \
    PKB_INLINE type pkb_f64_to_##suffix(double a, uint64_t not_a_number)         \
    {                                                                            \
        if (__builtin_expect(!(a >= (double)low && a < bound), 0))               \
            return a != a ? (type)not_a_number : a < 0 ? (type)low : (type)high; \
        return (type)a;                                                          \
    }
PKB_TO_INTEGER(s8, int8_t, INT8_MIN, INT8_MAX, 128.0)
PKB_TO_INTEGER(s16, int16_t, INT16_MIN, INT16_MAX, 32768.0)
PKB_TO_INTEGER(s32, int32_t, INT32_MIN, INT32_MAX, 2147483648.0)
PKB_TO_INTEGER(s64, int64_t, INT64_MIN, INT64_MAX, 9223372036854775808.0)
PKB_TO_INTEGER(u8, uint8_t, 0, UINT8_MAX, 256.0)
PKB_TO_INTEGER(u16, uint16_t, 0, UINT16_MAX, 65536.0)
PKB_TO_INTEGER(u32, uint32_t, 0, UINT32_MAX, 4294967296.0)
PKB_TO_INTEGER(u64, uint64_t, 0, UINT64_MAX, 18446744073709551616.0)

/* ---- integers to narrower integers with .sat ---- */
#define PKB_SATURATE(suffix, type, low, high)              \
    PKB_INLINE type pkb_s64_sat_##suffix(int64_t a)        \
    {                                                      \
        return (__int128)a < (__int128)low    ? (type)low  \
               : (__int128)a > (__int128)high ? (type)high \
                                              : (type)a;   \
    }                                                      \
    PKB_INLINE type pkb_u64_sat_##suffix(uint64_t a)       \
    {                                                      \
        return a > (uint64_t)high ? (type)high : (type)a;  \
    }
PKB_SATURATE(s8, int8_t, INT8_MIN, INT8_MAX)
PKB_SATURATE(s16, int16_t, INT16_MIN, INT16_MAX)
PKB_SATURATE(s32, int32_t, INT32_MIN, INT32_MAX)
PKB_SATURATE(s64, int64_t, INT64_MIN, INT64_MAX)
PKB_SATURATE(u8, uint8_t, 0, UINT8_MAX)
PKB_SATURATE(u16, uint16_t, 0, UINT16_MAX)
PKB_SATURATE(u32, uint32_t, 0, UINT32_MAX)
PKB_SATURATE(u64, uint64_t, 0, UINT64_MAX)

/* ---- directed roundings to f32 and f64. A long double holds every source exactly; the nearest
 * result is moved one step where it lies on the wrong side. ---- */
#define PKB_DIRECT(suffix, type, b, bits)                                             \
    PKB_INLINE type pkb_lower_##suffix(type a)                                        \
    {                                                                                 \
        uint##bits##_t w = pkb_##b(a);                                                \
        if (w << 1 == 0)                                                              \
            return pkb_##suffix((uint##bits##_t)1 << (bits - 1) | 1);                 \
        return pkb_##suffix(w >> (bits - 1) ? w + 1 : w - 1);                         \
    }                                                                                 \
    PKB_INLINE type pkb_exact_to_##suffix##_rm(long double a)                         \
    {                                                                                 \
        type nearest = (type)a;                                                       \
        return nearest > a ? pkb_lower_##suffix(nearest) : nearest;                   \
    }                                                                                 \
    PKB_INLINE type pkb_exact_to_##suffix##_rp(long double a)                         \
    {                                                                                 \
        return -pkb_exact_to_##suffix##_rm(-a);                                       \
    }                                                                                 \
    PKB_INLINE type pkb_exact_to_##suffix##_rz(long double a)                         \
    {                                                                                 \
        return a < 0 ? pkb_exact_to_##suffix##_rp(a) : pkb_exact_to_##suffix##_rm(a); \
    }
PKB_DIRECT(f32, float, b32, 32)
PKB_DIRECT(f64, double, b64, 64)

#define PKB_CONVERT(from, type, to, result, mode)           \
    PKB_INLINE result pkb_##from##_to_##to##_##mode(type a) \
    {                                                       \
        return pkb_exact_to_##to##_##mode(a);               \
    }
#define PKB_CONVERT_ALL(mode)                    \
    PKB_CONVERT(f64, double, f32, float, mode)   \
    PKB_CONVERT(s64, int64_t, f32, float, mode)  \
    PKB_CONVERT(u64, uint64_t, f32, float, mode) \
    PKB_CONVERT(s64, int64_t, f64, double, mode) \
    PKB_CONVERT(u64, uint64_t, f64, double, mode)
PKB_CONVERT_ALL(rz)
PKB_CONVERT_ALL(rm)
PKB_CONVERT_ALL(rp)

/* An integer as a double that later roundings treat as the integer itself: odd when inexact. */
PKB_INLINE double pkb_exact_to_odd_f64(long double a)
{
    double toward_zero = pkb_exact_to_f64_rz(a);
    return toward_zero == a ? toward_zero : pkb_f64(pkb_b64(toward_zero) | 1);
}

#define PKB_INTEGER_TO_HALF(type, mode)                             \
    PKB_INLINE uint16_t pkb_s64_to_##type##_##mode(int64_t a)       \
    {                                                               \
        return pkb_f64_to_##type##_##mode(pkb_exact_to_odd_f64(a)); \
    }                                                               \
    PKB_INLINE uint16_t pkb_u64_to_##type##_##mode(uint64_t a)      \
    {                                                               \
        return pkb_f64_to_##type##_##mode(pkb_exact_to_odd_f64(a)); \
    }
PKB_INTEGER_TO_HALF(f16, rn)
PKB_INTEGER_TO_HALF(f16, rz)
PKB_INTEGER_TO_HALF(f16, rm)
PKB_INTEGER_TO_HALF(f16, rp)
PKB_INTEGER_TO_HALF(bf16, rn)
PKB_INTEGER_TO_HALF(bf16, rz)
PKB_INTEGER_TO_HALF(bf16, rm)
PKB_INTEGER_TO_HALF(bf16, rp)

/* ---- tf32: an f32 with 10 bits of fraction ---- */
PKB_INLINE uint32_t pkb_f32_to_tf32_rna(float a)
{
    uint32_t bits = pkb_b32(a);
    if (a - a != 0)
        return a != a ? 0x7fffffff : bits;
    return (bits + 0x1000) & ~0x1fffu;
}

PKB_INLINE uint32_t pkb_f32_to_tf32_rn(float a)
{
    uint32_t bits = pkb_b32(a);
    if (a - a != 0)
        return a != a ? 0x7fffffff : bits;
    return (bits + 0xfff + (bits >> 13 & 1)) & ~0x1fffu;
}

PKB_INLINE uint32_t pkb_f32_to_tf32_rz(float a)
{
    return a != a ? 0x7fffffff : pkb_b32(a) & ~0x1fffu;
}

/* ---- fp8: e4m3 has no infinity and one NaN a sign, e5m2 is the top byte of an f16 ---- */
/* Rounds the magnitude's bits to an 8-bit float with `fraction` bits and the given bias. */
PKB_INLINE uint8_t pkb_f32_to_fp8(float a, int fraction, int bias, uint8_t largest)
{
    uint32_t bits = pkb_b32(a), magnitude = bits & 0x7fffffff;
    uint8_t sign = (uint8_t)(bits >> 24 & 0x80);
    if (a != a)
        return 0x7f;
    int exponent = (int)(magnitude >> 23) - 127 + bias;
    if (exponent > 30)
        return sign | largest;
    if (exponent < -fraction)
        return sign;
    uint32_t significand = (magnitude & 0x7fffff) | 0x800000;
    int drop = 23 - fraction + (exponent < 1 ? 1 - exponent : 0);
    uint32_t kept = significand >> drop, rest = significand & ((1u << drop) - 1);
    uint32_t half = 1u << (drop - 1);
    kept += rest > half || (rest == half && (kept & 1));
    /* The hidden bit adds one to the exponent of a normal number. */
    uint32_t result = exponent < 1 ? kept : kept + ((uint32_t)(exponent - 1) << fraction);
    return sign | (uint8_t)(result > largest ? largest : result);
}

PKB_INLINE float pkb_fp8_relu(float a, int is_relu)
{
    return is_relu ? pkb_relu_f32(a) : a;
}

#define PKB_FP8(type, fraction, bias, largest)                                            \
    PKB_OUTLINE uint16_t pkb_f32_to_##type(float high, float low, int is_relu)            \
    {                                                                                     \
        uint8_t h = pkb_f32_to_fp8(pkb_fp8_relu(high, is_relu), fraction, bias, largest); \
        uint8_t l = pkb_f32_to_fp8(pkb_fp8_relu(low, is_relu), fraction, bias, largest);  \
        return (uint16_t)(h << 8 | l);                                                    \
    }                                                                                     \
    PKB_INLINE uint16_t pkb_f16x2_to_##type(uint32_t pair, int is_relu)                   \
    {                                                                                     \
        return pkb_f32_to_##type(pkb_f16_to_f32((uint16_t)(pair >> 16)),                  \
                                 pkb_f16_to_f32((uint16_t)pair), is_relu);                \
    }
PKB_FP8(e4m3x2, 3, 7, 0x7e)
PKB_FP8(e5m2x2, 2, 15, 0x7b)

PKB_INLINE uint32_t pkb_e5m2x2_to_f16x2(uint16_t pair)
{
    uint16_t low = (uint16_t)(pair << 8), high = pair & 0xff00;
    return pkb_pack((low & 0x7fff) > 0x7c00 ? 0x7fff : low,
                    (high & 0x7fff) > 0x7c00 ? 0x7fff : high);
}

PKB_INLINE uint16_t pkb_e4m3_to_f16(uint8_t a)
{
    /* As an f16 with the exponent's bias 8 too small: multiply to repair it. */
    uint16_t shifted = (uint16_t)((a & 0x7f) << 7);
    if ((a & 0x7f) == 0x7f)
        return 0x7fff;
    return (uint16_t)((a & 0x80) << 8) | pkb_f32_to_f16_rn(pkb_f16_to_f32(shifted) * 256);
}

PKB_INLINE uint32_t pkb_e4m3x2_to_f16x2(uint16_t pair)
{
    return pkb_pack(pkb_e4m3_to_f16((uint8_t)pair), pkb_e4m3_to_f16((uint8_t)(pair >> 8)));
}

#endif
