/* SPDX-License-Identifier: Apache-2.0
 *
 * f16 and bf16, single and packed in pairs; part of number.h. A value is held as its bits. Sums
 * and products are computed as float, where the second rounding is harmless (24 >= 2 * 11 + 2
 * bits); fma needs more bits and goes through double with rounding to odd.
 */
#ifndef PKB_CPU_HALF_H
#define PKB_CPU_HALF_H

#include "harness/cpu/device/floating.h"

typedef float pkb_v4sf __attribute__((vector_size(16)));
typedef short pkb_v8hi __attribute__((vector_size(16)));

PKB_INLINE float pkb_f16_to_f32(uint16_t a)
{
    pkb_v8hi bits = {(short)a};
    return __builtin_ia32_vcvtph2ps(bits)[0];
}

PKB_INLINE float pkb_bf16_to_f32(uint16_t a)
{
    return pkb_f32((uint32_t)a << 16);
}

/* The immediate is the rounding: 0 nearest even, 1 down, 2 up, 3 toward zero. */
#define PKB_TO_F16(mode, immediate)                                     \
    PKB_INLINE uint16_t pkb_f32_to_f16_##mode(float a)                  \
    {                                                                   \
        pkb_v4sf value = {a};                                           \
        if (__builtin_expect(a != a, 0))                                \
            return 0x7fff;                                              \
        return (uint16_t)__builtin_ia32_vcvtps2ph(value, immediate)[0]; \
    }
PKB_TO_F16(rn, 0)
PKB_TO_F16(rm, 1)
PKB_TO_F16(rp, 2)
PKB_TO_F16(rz, 3)

PKB_INLINE uint16_t pkb_f32_to_bf16_rn(float a)
{
    uint32_t bits = pkb_b32(a);
    if (__builtin_expect(a != a, 0))
        return 0x7fff;
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

PKB_INLINE uint16_t pkb_f32_to_bf16_rz(float a)
{
    return a != a ? 0x7fff : (uint16_t)(pkb_b32(a) >> 16);
}

PKB_INLINE uint16_t pkb_f32_to_bf16_rp(float a)
{
    uint32_t bits = pkb_b32(a);
    if (a != a)
        return 0x7fff;
    return (uint16_t)((bits + (bits >> 31 ? 0 : 0xffff)) >> 16);
}

PKB_INLINE uint16_t pkb_f32_to_bf16_rm(float a)
{
    uint32_t bits = pkb_b32(a);
    if (a != a)
        return 0x7fff;
    return (uint16_t)((bits + (bits >> 31 ? 0xffff : 0)) >> 16);
}

/* A float that any later rounding to fewer bits rounds as it would the double: truncated, and
 * odd when that lost something. */
PKB_INLINE float pkb_f64_to_odd_f32(double a)
{
    float nearest = (float)a;
    uint32_t bits = pkb_b32(nearest);
    double back = nearest;
    if (back == a || a != a)
        return nearest;
    if ((bits & 1) == 0)
        bits += (back < a) == (bits >> 31 == 0) ? 1 : ~0u;
    return pkb_f32(bits);
}

/* The sum of two doubles, odd when inexact. */
PKB_INLINE double pkb_odd_sum(double a, double b)
{
    double sum = a + b, shadow = sum - a;
    double error = (a - (sum - shadow)) + (b - shadow);
    uint64_t bits = pkb_b64(sum);
    if (error != 0 && sum - sum == 0 && (bits & 1) == 0)
        bits += (error > 0) == (bits >> 63 == 0) ? 1 : ~0ull;
    return pkb_f64(bits);
}

#define PKB_HALF_FROM_F64(type, mode)                             \
    PKB_INLINE uint16_t pkb_f64_to_##type##_##mode(double a)      \
    {                                                             \
        return pkb_f32_to_##type##_##mode(pkb_f64_to_odd_f32(a)); \
    }
PKB_HALF_FROM_F64(f16, rn)
PKB_HALF_FROM_F64(f16, rz)
PKB_HALF_FROM_F64(f16, rm)
PKB_HALF_FROM_F64(f16, rp)
PKB_HALF_FROM_F64(bf16, rn)
PKB_HALF_FROM_F64(bf16, rz)
PKB_HALF_FROM_F64(bf16, rm)
PKB_HALF_FROM_F64(bf16, rp)

#define PKB_HALF_1(type, name, expression)                         \
    PKB_INLINE uint16_t pkb_##name##_##type(uint16_t p)            \
    {                                                              \
        float a = pkb_##type##_to_f32(p);                          \
        return pkb_f32_to_##type##_rn(expression);                 \
    }                                                              \
    PKB_INLINE uint32_t pkb_##name##_##type##x2(uint32_t p)        \
    {                                                              \
        return pkb_pack(pkb_##name##_##type((uint16_t)p),          \
                        pkb_##name##_##type((uint16_t)(p >> 16))); \
    }
#define PKB_HALF_2(type, name, expression)                                              \
    PKB_INLINE uint16_t pkb_##name##_##type(uint16_t p, uint16_t q)                     \
    {                                                                                   \
        float a = pkb_##type##_to_f32(p), b = pkb_##type##_to_f32(q);                   \
        return pkb_f32_to_##type##_rn(expression);                                      \
    }                                                                                   \
    PKB_INLINE uint32_t pkb_##name##_##type##x2(uint32_t p, uint32_t q)                 \
    {                                                                                   \
        return pkb_pack(pkb_##name##_##type((uint16_t)p, (uint16_t)q),                  \
                        pkb_##name##_##type((uint16_t)(p >> 16), (uint16_t)(q >> 16))); \
    }

/* The sign operations keep a NaN's payload; they are bit operations. */
#define PKB_HALF(type)                                                                      \
    PKB_HALF_2(type, add, a + b)                                                            \
    PKB_HALF_2(type, sub, a - b)                                                            \
    PKB_HALF_2(type, mul, a *b)                                                             \
    PKB_HALF_2(type, min, pkb_min_f32(a, b))                                                \
    PKB_HALF_2(type, max, pkb_max_f32(a, b))                                                \
    PKB_HALF_2(type, minnan, pkb_minnan_f32(a, b))                                          \
    PKB_HALF_2(type, maxnan, pkb_maxnan_f32(a, b))                                          \
    PKB_HALF_2(type, minxorsign, pkb_minxorsign_f32(a, b))                                  \
    PKB_HALF_2(type, maxxorsign, pkb_maxxorsign_f32(a, b))                                  \
    PKB_HALF_2(type, minnanxorsign, pkb_minnanxorsign_f32(a, b))                            \
    PKB_HALF_2(type, maxnanxorsign, pkb_maxnanxorsign_f32(a, b))                            \
    PKB_HALF_1(type, ex2, pkb_ex2_f32(a))                                                   \
    PKB_HALF_1(type, tanh, pkb_tanh_f32(a))                                                 \
    PKB_HALF_1(type, sat, pkb_sat_f32(a))                                                   \
    PKB_HALF_1(type, relu, pkb_relu_f32(a))                                                 \
    PKB_INLINE uint16_t pkb_fma_##type(uint16_t a, uint16_t b, uint16_t c)                  \
    {                                                                                       \
        double product = (double)pkb_##type##_to_f32(a) * (double)pkb_##type##_to_f32(b);   \
        return pkb_f64_to_##type##_rn(pkb_odd_sum(product, pkb_##type##_to_f32(c)));        \
    }                                                                                       \
    PKB_INLINE uint32_t pkb_fma_##type##x2(uint32_t a, uint32_t b, uint32_t c)              \
    {                                                                                       \
        return pkb_pack(                                                                    \
            pkb_fma_##type((uint16_t)a, (uint16_t)b, (uint16_t)c),                          \
            pkb_fma_##type((uint16_t)(a >> 16), (uint16_t)(b >> 16), (uint16_t)(c >> 16))); \
    }                                                                                       \
    PKB_INLINE uint16_t pkb_neg_##type(uint16_t a)                                          \
    {                                                                                       \
        return a ^ 0x8000;                                                                  \
    }                                                                                       \
    PKB_INLINE uint16_t pkb_abs_##type(uint16_t a)                                          \
    {                                                                                       \
        return a & 0x7fff;                                                                  \
    }                                                                                       \
    PKB_INLINE uint32_t pkb_neg_##type##x2(uint32_t a)                                      \
    {                                                                                       \
        return a ^ 0x80008000u;                                                             \
    }                                                                                       \
    PKB_INLINE uint32_t pkb_abs_##type##x2(uint32_t a)                                      \
    {                                                                                       \
        return a & 0x7fff7fffu;                                                             \
    }
PKB_HALF(f16)
PKB_HALF(bf16)

#define PKB_HALF_FTZ(type, exponent)                                                       \
    PKB_INLINE uint16_t pkb_ftz_##type(uint16_t a)                                         \
    {                                                                                      \
        return (a & exponent) == 0 ? a & 0x8000 : a;                                       \
    }                                                                                      \
    PKB_INLINE uint32_t pkb_ftz_##type##x2(uint32_t a)                                     \
    {                                                                                      \
        return pkb_pack(pkb_ftz_##type((uint16_t)a), pkb_ftz_##type((uint16_t)(a >> 16))); \
    }
PKB_HALF_FTZ(f16, 0x7c00)
PKB_HALF_FTZ(bf16, 0x7f80)

#endif
