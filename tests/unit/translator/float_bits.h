/* SPDX-License-Identifier: Apache-2.0
 *
 * Floats as the words that kernels of one instruction take and give.
 */
#ifndef PKB_TESTS_FLOAT_BITS_H
#define PKB_TESTS_FLOAT_BITS_H

#include "tests/unit/translator/run_ptx.h"

static inline float f32(uint64_t bits)
{
    uint32_t low = (uint32_t)bits;
    float value;
    memcpy(&value, &low, sizeof value);
    return value;
}

static inline double f64(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint64_t bits32(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline uint64_t bits64(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* The same bits, or both NaN. */
static inline int same_value(char to, uint64_t got, uint64_t wanted)
{
    if (to == 'f' && isnan(f32(got)) && isnan(f32(wanted)))
        return 1;
    if (to == 'd' && isnan(f64(got)) && isnan(f64(wanted)))
        return 1;
    return same_bits(to, got, wanted);
}

/* The definition of an opcode_case, an expression of the words a, b and c. */
#define REF(name, ...)                                       \
    static uint64_t name(uint64_t a, uint64_t b, uint64_t c) \
    {                                                        \
        (void)a, (void)b, (void)c;                           \
        return (uint64_t)(__VA_ARGS__);                      \
    }

#endif
