/* SPDX-License-Identifier: Apache-2.0
 *
 * Values as bits and back; part of number.h.
 */
#ifndef PKB_CPU_BITS_H
#define PKB_CPU_BITS_H

#include <stdint.h>

typedef unsigned __int128 pkb_u128;

#define PKB_INLINE static inline __attribute__((always_inline, unused))
#define PKB_OUTLINE static __attribute__((noinline, unused))

/* ---- bits and values ---- */
PKB_INLINE float pkb_f32(uint32_t bits)
{
    float value;
    __builtin_memcpy(&value, &bits, 4);
    return value;
}

PKB_INLINE double pkb_f64(uint64_t bits)
{
    double value;
    __builtin_memcpy(&value, &bits, 8);
    return value;
}

PKB_INLINE uint32_t pkb_b32(float value)
{
    uint32_t bits;
    __builtin_memcpy(&bits, &value, 4);
    return bits;
}

PKB_INLINE uint64_t pkb_b64(double value)
{
    uint64_t bits;
    __builtin_memcpy(&bits, &value, 8);
    return bits;
}

PKB_INLINE uint32_t pkb_pack(uint16_t low, uint16_t high)
{
    return low | (uint32_t)high << 16;
}

#endif
