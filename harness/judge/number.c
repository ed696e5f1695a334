/* SPDX-License-Identifier: Apache-2.0
 *
 * Bit-exact conversion of number formats; see number.h.
 */
#include "harness/judge/number.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

typedef struct format { /* of a binary float: value bits, exponent bits, range */
    int mantissa_bits, minimum_exponent, maximum_exponent;
} format;

static format format_of(pkb_dtype dtype)
{
    if (dtype == PKB_BF16)
        return (format){7, -126, 127};
    if (dtype == PKB_F16)
        return (format){10, -14, 15};
    if (dtype == PKB_E4M3)
        return (format){3, -6, 8};
    if (dtype == PKB_E5M2)
        return (format){2, -14, 15};
    if (dtype == PKB_F64)
        return (format){52, -1022, 1023};
    return (format){23, -126, 127};
}

double pkb_number_from_bf16(uint16_t bits)
{
    uint32_t wide = (uint32_t)bits << 16;
    float value;
    memcpy(&value, &wide, sizeof value);
    return (double)value;
}

/* A small IEEE format: sign, exponent, mantissa from the top. */
static double from_small(unsigned bits, int exponent_bits, int mantissa_bits, bool has_infinity)
{
    unsigned mantissa = bits & ((1U << mantissa_bits) - 1U);
    unsigned exponent_mask = (1U << exponent_bits) - 1U;
    unsigned exponent = (bits >> mantissa_bits) & exponent_mask;
    double sign = (bits >> (exponent_bits + mantissa_bits)) & 1U ? -1.0 : 1.0;
    int bias = (1 << (exponent_bits - 1)) - 1;

    if (exponent == exponent_mask && has_infinity)
        return mantissa != 0 ? (double)NAN : sign * (double)INFINITY;
    if (exponent == 0)
        return sign * ldexp((double)mantissa, 1 - bias - mantissa_bits);
    return sign *
           ldexp((double)(mantissa | (1U << mantissa_bits)), (int)exponent - bias - mantissa_bits);
}

/* 2^k for |k| small enough to be a normal double; quicker than ldexp. */
static double power_of_two(int k)
{
    uint64_t bits = (uint64_t)(k + 1023) << 52;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

double pkb_number_from_f16(uint16_t bits)
{
    int exponent = (bits >> 10) & 31;
    if (exponent == 31)
        return from_small(bits, 5, 10, true);
    int mantissa = exponent == 0 ? bits & 1023 : (bits & 1023) | 1024;
    double value = (double)mantissa * power_of_two((exponent == 0 ? 1 : exponent) - 25);
    return bits & 0x8000 ? -value : value;
}

double pkb_number_from_e4m3(uint8_t bits)
{
    if ((bits & 0x7f) == 0x7f)
        return (double)NAN;
    return from_small(bits, 4, 3, false);
}

double pkb_number_from_e5m2(uint8_t bits)
{
    return from_small(bits, 5, 2, true);
}

#define LOAD_EACH(type, expression)          \
    do {                                     \
        const type *source = data;           \
        for (size_t i = 0; i < count; i++) { \
            type item = source[i];           \
            out[i] = (double)(expression);   \
        }                                    \
    } while (0)

void pkb_number_load(double *out, const void *data, pkb_dtype dtype, size_t count)
{
    switch (dtype) {
    case PKB_BF16:
        LOAD_EACH(uint16_t, pkb_number_from_bf16(item));
        break;
    case PKB_F16:
        LOAD_EACH(uint16_t, pkb_number_from_f16(item));
        break;
    case PKB_F32:
        LOAD_EACH(float, item);
        break;
    case PKB_F64:
        memcpy(out, data, count * sizeof *out);
        break;
    case PKB_I8:
        LOAD_EACH(int8_t, item);
        break;
    case PKB_U8:
    case PKB_BOOL:
        LOAD_EACH(uint8_t, item);
        break;
    case PKB_I32:
        LOAD_EACH(int32_t, item);
        break;
    case PKB_I64:
        LOAD_EACH(int64_t, item);
        break;
    case PKB_E4M3:
        LOAD_EACH(uint8_t, pkb_number_from_e4m3(item));
        break;
    case PKB_E5M2:
        LOAD_EACH(uint8_t, pkb_number_from_e5m2(item));
        break;
    case PKB_C64:
        pkb_number_load(out, data, PKB_F32, 2 * count);
        break;
    }
}

double pkb_number_round(double value, pkb_dtype dtype)
{
    format f = format_of(dtype);
    int exponent = 0;

    if (dtype == PKB_F64 || !isfinite(value) || value == 0.0)
        return value;
    frexp(value, &exponent);
    exponent -= 1; /* |value| = m * 2^exponent with 1 <= m < 2 */
    if (exponent < f.minimum_exponent)
        exponent = f.minimum_exponent;
    double unit = ldexp(1.0, exponent - f.mantissa_bits);
    double rounded = nearbyint(value / unit) * unit;
    if (fabs(rounded) <= pkb_number_largest(dtype))
        return rounded;
    return dtype == PKB_E4M3 ? (double)NAN : copysign((double)INFINITY, value);
}

double pkb_number_largest(pkb_dtype dtype)
{
    format f = format_of(dtype);
    if (dtype == PKB_E4M3) /* the code above it is NaN */
        return 448.0;
    return ldexp(2.0 - ldexp(1.0, -f.mantissa_bits), f.maximum_exponent);
}

double pkb_number_smallest(pkb_dtype dtype)
{
    format f = format_of(dtype);
    return ldexp(1.0, f.minimum_exponent - f.mantissa_bits);
}

static void real_text(char *out, size_t bytes, double value)
{
    if (isnan(value))
        snprintf(out, bytes, "nan");
    else
        snprintf(out, bytes, "%.9g", value);
}

void pkb_number_text(char *out, size_t bytes, const void *element, pkb_dtype dtype)
{
    double parts[2] = {0.0, 0.0};
    int64_t integer = 0;
    char real[32], imaginary[32];

    if (dtype == PKB_I64) {
        memcpy(&integer, element, sizeof integer);
        snprintf(out, bytes, "%" PRId64, integer);
        return;
    }
    pkb_number_load(parts, element, dtype, 1);
    real_text(real, sizeof real, parts[0]);
    if (dtype == PKB_C64) {
        real_text(imaginary, sizeof imaginary, parts[1]);
        snprintf(out, bytes, "(%s, %s)", real, imaginary);
    } else {
        snprintf(out, bytes, "%s", real);
    }
}
