/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/judge/number.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

#include <cmocka.h>

/* An independent decoder: builds the value from its parts with exact powers of two. */
static double decode(unsigned bits, int exponent_bits, int mantissa_bits)
{
    int bias = (1 << (exponent_bits - 1)) - 1;
    int exponent = (int)(bits >> mantissa_bits) & ((1 << exponent_bits) - 1);
    double fraction = (double)(bits & ((1U << mantissa_bits) - 1U)) / (double)(1 << mantissa_bits);
    double size = exponent == 0 ? fraction * pow(2.0, 1 - bias)
                                : (1.0 + fraction) * pow(2.0, exponent - bias);
    return (bits >> (exponent_bits + mantissa_bits)) & 1U ? -size : size;
}

static void every_bf16_is_the_upper_half_of_a_float(void **state)
{
    (void)state;
    for (uint32_t bits = 0; bits < 65536; bits++) {
        uint32_t wide = bits << 16;
        float expected;
        memcpy(&expected, &wide, sizeof expected);
        double got = pkb_number_from_bf16((uint16_t)bits);
        assert_true(isnan(expected) ? isnan(got) : got == (double)expected);
    }
}

static void every_f16_decodes_exactly(void **state)
{
    (void)state;
    for (uint32_t bits = 0; bits < 65536; bits++) {
        double got = pkb_number_from_f16((uint16_t)bits);
        if ((bits & 0x7c00) != 0x7c00)
            assert_true(got == decode(bits, 5, 10));
        else if ((bits & 0x3ff) != 0)
            assert_true(isnan(got));
        else
            assert_true(isinf(got) && signbit(got) == (bits >> 15 != 0));
    }
}

static void every_e4m3_decodes_exactly(void **state)
{
    (void)state;
    for (unsigned bits = 0; bits < 256; bits++) {
        double got = pkb_number_from_e4m3((uint8_t)bits);
        assert_true((bits & 0x7f) == 0x7f ? isnan(got) : got == decode(bits, 4, 3));
    }
    assert_true(pkb_number_from_e4m3(0x7e) == 448.0);
}

static void every_e5m2_decodes_exactly(void **state)
{
    (void)state;
    for (unsigned bits = 0; bits < 256; bits++) {
        double got = pkb_number_from_e5m2((uint8_t)bits);
        if ((bits & 0x7c) != 0x7c)
            assert_true(got == decode(bits, 5, 2));
        else
            assert_true((bits & 3) != 0 ? isnan(got) : isinf(got));
    }
}

/* Rounding a value of the format must give it back, whatever it is. */
static void rounding_keeps_every_value_of_a_format(void **state)
{
    (void)state;
    for (uint32_t bits = 0; bits < 65536; bits++) {
        double half = pkb_number_from_f16((uint16_t)bits);
        double brain = pkb_number_from_bf16((uint16_t)bits);
        assert_true(isnan(half) || pkb_number_round(half, PKB_F16) == half);
        assert_true(isnan(brain) || pkb_number_round(brain, PKB_BF16) == brain);
    }
}

static void ties_round_to_even(void **state)
{
    (void)state;
    assert_true(pkb_number_round(1.0 + ldexp(1.0, -8), PKB_BF16) == 1.0);
    assert_true(pkb_number_round(1.0 + 3.0 * ldexp(1.0, -8), PKB_BF16) == 1.0 + ldexp(1.0, -6));
    assert_true(pkb_number_round(2049.0, PKB_F16) == 2048.0);
    assert_true(pkb_number_round(16777217.0, PKB_F32) == 16777216.0);
}

static void rounding_to_float_agrees_with_the_processor(void **state)
{
    (void)state;
    uint64_t random = 1;
    for (int i = 0; i < 100000; i++) {
        random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        double value = ldexp((double)(int64_t)random, (int)(random % 300) - 213);
        volatile float expected = (float)value;
        assert_true(pkb_number_round(value, PKB_F32) == (double)expected);
    }
}

static void overflow_is_infinite_but_nan_in_e4m3(void **state)
{
    (void)state;
    assert_true(pkb_number_round(65519.0, PKB_F16) == 65504.0);
    assert_true(isinf(pkb_number_round(65520.0, PKB_F16)));
    assert_true(pkb_number_round(-1e39, PKB_BF16) == -(double)INFINITY);
    assert_true(isnan(pkb_number_round(1000.0, PKB_E4M3)));
}

static void elements_become_text(void **state)
{
    (void)state;
    char text[64];
    const int64_t big = INT64_C(9007199254740993);
    const float pair[2] = {1.0F, -2.5F}, none = NAN;
    pkb_number_text(text, sizeof text, &big, PKB_I64);
    assert_string_equal(text, "9007199254740993");
    pkb_number_text(text, sizeof text, pair, PKB_C64);
    assert_string_equal(text, "(1, -2.5)");
    pkb_number_text(text, sizeof text, &none, PKB_F32);
    assert_string_equal(text, "nan");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_bf16_is_the_upper_half_of_a_float),
        cmocka_unit_test(every_f16_decodes_exactly),
        cmocka_unit_test(every_e4m3_decodes_exactly),
        cmocka_unit_test(every_e5m2_decodes_exactly),
        cmocka_unit_test(rounding_keeps_every_value_of_a_format),
        cmocka_unit_test(ties_round_to_even),
        cmocka_unit_test(rounding_to_float_agrees_with_the_processor),
        cmocka_unit_test(overflow_is_infinite_but_nan_in_e4m3),
        cmocka_unit_test(elements_become_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
