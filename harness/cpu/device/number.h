/* SPDX-License-Identifier: Apache-2.0
 *
 * Inline arithmetic of the translated code: what PTX defines and plain C does not. Functions are
 * named pkb_<operation>_<type>, the translator builds the names. No libm and no headers but
 * <stdint.h>: device.so links with nothing, and gcc reads this for every attempt. The C is
 * compiled with -march=x86-64-v3 -ffp-contract=off -fno-strict-aliasing -fwrapv.
 */
#ifndef PKB_CPU_NUMBER_H
#define PKB_CPU_NUMBER_H

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

#include "harness/cpu/device/convert.h"
#include "harness/cpu/device/floating.h"
#include "harness/cpu/device/half.h"
#include "harness/cpu/device/integer.h"

#endif
