/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/judge/compare.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/stats.h"
#include "harness/judge/number.h"

enum { ROWS = 67, COLUMNS = 93, COUNT = ROWS * COLUMNS };

static const pkb_tolerance tight = {.norm = 1e-6, .block = 2e-6, .max = 1e-5};

typedef struct sample {
    float out[COUNT], reference[COUNT];
    double oracle[COUNT];
} sample;

static double uniform(uint64_t *random)
{
    return (double)(pkb_random_next(random) >> 11) / 4503599627370496.0 - 1.0;
}

static void sample_fill(sample *s, double scale)
{
    uint64_t random = 7;
    for (size_t i = 0; i < COUNT; i++) {
        s->oracle[i] = uniform(&random) * scale;
        s->out[i] = s->reference[i] = (float)s->oracle[i];
    }
}

static pkb_comparison of_sample(const sample *s)
{
    return (pkb_comparison){.dtype = PKB_F32,
                            .check = PKB_CHECK_FLOAT,
                            .out = s->out,
                            .reference = s->reference,
                            .oracle = s->oracle,
                            .element_count = COUNT,
                            .row_count = ROWS,
                            .tolerance = tight};
}

static void a_rounded_oracle_is_right(void **state)
{
    (void)state;
    static sample s;
    sample_fill(&s, 1.0);
    pkb_comparison c = of_sample(&s);
    assert_false(pkb_compare(&c).is_wrong);
}

static void an_error_in_any_single_element_is_found(void **state)
{
    (void)state;
    static sample s;
    sample_fill(&s, 1.0);
    for (size_t at = 0; at < COUNT; at++) {
        float before = s.out[at];
        s.out[at] += 1e-4F;
        pkb_comparison c = of_sample(&s);
        pkb_mismatch m = pkb_compare(&c);
        assert_true(m.is_wrong);
        assert_int_equal(m.index, at);
        assert_int_equal(m.wrong_count, 1);
        s.out[at] = before;
    }
}

/* The output of each of four ranks, with each of two outputs, at three places. */
static void errors_are_found_in_every_output_of_every_rank(void **state)
{
    (void)state;
    static sample outputs[4][2];
    const size_t places[] = {0, COUNT / 2, COUNT - 1};
    for (int rank = 0; rank < 4; rank++)
        for (int output = 0; output < 2; output++)
            sample_fill(&outputs[rank][output], 1.0 + rank + output);
    for (int rank = 0; rank < 4; rank++)
        for (int output = 0; output < 2; output++)
            for (int p = 0; p < 3; p++) {
                sample *s = &outputs[rank][output];
                float before = s->out[places[p]];
                s->out[places[p]] = before + 1.0F;
                pkb_comparison c = of_sample(s);
                pkb_mismatch m = pkb_compare(&c);
                assert_true(m.is_wrong && m.index == places[p]);
                s->out[places[p]] = before;
            }
}

static void scaling_by_powers_of_two_changes_nothing(void **state)
{
    (void)state;
    static sample s;
    const double scales[] = {1.0, 0x1p-20, 0x1p20, 0x1p-60, 0x1p60};
    for (size_t i = 0; i < sizeof scales / sizeof scales[0]; i++) {
        sample_fill(&s, scales[i]);
        pkb_comparison c = of_sample(&s);
        assert_false(pkb_compare(&c).is_wrong);
        s.out[100] += (float)(1e-4 * scales[i]);
        pkb_mismatch m = pkb_compare(&c);
        assert_true(m.is_wrong && m.index == 100);
        assert_true(fabs(m.error - 1e-4 * sqrt(3.0)) < 2e-6);
    }
}

static void a_wrong_tile_with_small_elements_is_found_by_its_block(void **state)
{
    (void)state;
    static sample s;
    sample_fill(&s, 1.0);
    /* Each element is within the limit of one, but a whole block of rows deviates. */
    for (size_t i = 10 * COLUMNS; i < 12 * COLUMNS; i++)
        s.out[i] += 4e-6F;
    pkb_comparison c = of_sample(&s);
    pkb_mismatch m = pkb_compare(&c);
    assert_true(m.is_wrong);
    assert_string_equal(m.metric, "block");
    assert_in_range(m.index, 10 * COLUMNS, 12 * COLUMNS - 1);
}

static void a_small_error_everywhere_is_found_by_the_norm(void **state)
{
    (void)state;
    static sample s;
    sample_fill(&s, 1.0);
    for (size_t i = 0; i < COUNT; i++)
        s.out[i] += 9e-7F;
    pkb_comparison c = of_sample(&s);
    assert_string_equal(pkb_compare(&c).metric, "norm");
}

static void four_times_the_error_of_the_reference_is_allowed(void **state)
{
    (void)state;
    static sample s;
    sample_fill(&s, 1.0);
    for (size_t i = 0; i < COUNT; i++) {
        s.reference[i] += 1e-3F;
        s.out[i] -= 3.9e-3F;
    }
    pkb_comparison c = of_sample(&s);
    assert_false(pkb_compare(&c).is_wrong);
    for (size_t i = 0; i < COUNT; i++)
        s.out[i] -= 0.3e-3F;
    assert_true(pkb_compare(&c).is_wrong);
}

static bool is_accepted(float out, double oracle)
{
    float outs[4] = {1.0F, -1.0F, out, 0.5F};
    double oracles[4] = {1.0, -1.0, oracle, 0.5};
    pkb_comparison c = {.dtype = PKB_F32,
                        .check = PKB_CHECK_FLOAT,
                        .out = outs,
                        .reference = NULL,
                        .oracle = oracles,
                        .element_count = 4,
                        .row_count = 4,
                        .tolerance = tight};
    return !pkb_compare(&c).is_wrong;
}

static void special_values_follow_the_table(void **state)
{
    (void)state;
    const double nan_value = (double)NAN, infinity = (double)INFINITY;
    const struct {
        double out, oracle;
        bool accepted;
    } table[] = {
        {nan_value, nan_value, true},
        {nan_value, 1.0, false},
        {1.0, nan_value, false},
        {infinity, infinity, true},
        {infinity, -infinity, false},
        {-infinity, infinity, false},
        {infinity, nan_value, false},
        {nan_value, infinity, false},
        {infinity, 1.0, false},
        {1.0, infinity, false},
        {0.0, -0.0, true},
        {-0.0, 0.0, true},
        {1e-40, 0.0, true},
        {0.0, 1e-40, true},
        {3.4028234e38, infinity, false},
        {infinity, 3.4028234e38, false},
        {infinity, 1e39, true},
        {3.4028234e38, 1e39, false},
        {-infinity, 1e39, false},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        assert_int_equal(is_accepted((float)table[i].out, table[i].oracle), table[i].accepted);
}

static void an_all_zero_oracle_wants_zeros(void **state)
{
    (void)state;
    static sample s;
    memset(&s, 0, sizeof s);
    pkb_comparison c = of_sample(&s);
    assert_false(pkb_compare(&c).is_wrong);
    s.out[COUNT - 1] = 1e-30F;
    pkb_mismatch m = pkb_compare(&c);
    assert_true(m.is_wrong && m.index == COUNT - 1);
    for (size_t i = 0; i < COUNT; i++)
        s.reference[i] = 1e-30F; /* then the attempt may be as far off */
    assert_false(pkb_compare(&c).is_wrong);
}

static void every_half_is_right_for_itself(void **state)
{
    (void)state;
    static uint16_t out[65536];
    static double oracle[65536];
    const pkb_dtype dtypes[] = {PKB_BF16, PKB_F16};
    for (int d = 0; d < 2; d++) {
        for (uint32_t bits = 0; bits < 65536; bits++)
            out[bits] = (uint16_t)bits;
        pkb_number_load(oracle, out, dtypes[d], 65536);
        for (int check = PKB_CHECK_EXACT; check <= PKB_CHECK_FLOAT; check++) {
            pkb_comparison c = {.dtype = dtypes[d],
                                .check = (pkb_check)check,
                                .out = out,
                                .oracle = oracle,
                                .element_count = 65536,
                                .row_count = 256};
            assert_false(pkb_compare(&c).is_wrong);
        }
    }
}

static void integers_are_compared_exactly_where_doubles_cannot(void **state)
{
    (void)state;
    const int64_t bases[] = {INT64_C(1) << 24, INT64_C(1) << 53, INT64_MAX - 2};
    for (size_t b = 0; b < 3; b++)
        for (int64_t off = -1; off <= 1; off++) {
            int64_t oracle[3] = {1, 2, bases[b]}, out[3] = {1, 2, bases[b] + off};
            pkb_comparison c = {.dtype = PKB_I64,
                                .check = PKB_CHECK_EXACT,
                                .out = out,
                                .oracle = oracle,
                                .element_count = 3,
                                .row_count = 3};
            pkb_mismatch m = pkb_compare(&c);
            assert_int_equal(m.is_wrong, off != 0);
            assert_true(off == 0 || m.index == 2);
        }
}

static void exact_floats_are_compared_with_the_rounded_oracle(void **state)
{
    (void)state;
    float out[3] = {16777216.0F, 3.0F, NAN};
    double oracle[3] = {16777217.0, 3.0, (double)NAN};
    pkb_comparison c = {.dtype = PKB_F32,
                        .check = PKB_CHECK_EXACT,
                        .out = out,
                        .oracle = oracle,
                        .element_count = 3};
    assert_false(pkb_compare(&c).is_wrong);
    out[1] = nextafterf(3.0F, 4.0F);
    pkb_mismatch m = pkb_compare(&c);
    assert_true(m.is_wrong && m.index == 1);
}

static void either_code_of_a_tie_is_right(void **state)
{
    (void)state;
    const uint8_t oracle[4] = {10, 20, 30, 40}, other[4] = {10, 21, 30, 40};
    uint8_t out[4] = {10, 21, 30, 40};
    pkb_comparison c = {.dtype = PKB_E4M3,
                        .check = PKB_CHECK_QUANTIZED,
                        .out = out,
                        .oracle = oracle,
                        .alternative = other,
                        .element_count = 4};
    assert_false(pkb_compare(&c).is_wrong);
    out[2] = 31;
    pkb_mismatch m = pkb_compare(&c);
    assert_true(m.is_wrong && m.index == 2);
    assert_string_equal(m.metric, "code");
}

static void complex_elements_are_counted_as_one(void **state)
{
    (void)state;
    float out[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    double oracle[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    pkb_comparison c = {.dtype = PKB_C64,
                        .check = PKB_CHECK_FLOAT,
                        .out = out,
                        .oracle = oracle,
                        .element_count = 4,
                        .row_count = 4,
                        .tolerance = tight};
    assert_false(pkb_compare(&c).is_wrong);
    out[5] = 7; /* the imaginary part of element 2 */
    out[4] = 6;
    pkb_mismatch m = pkb_compare(&c);
    assert_true(m.is_wrong);
    assert_int_equal(m.index, 2);
    assert_int_equal(m.wrong_count, 1);
    char text[48];
    pkb_compare_expected_text(&c, 2, text, sizeof text);
    assert_string_equal(text, "(5, 6)");
}

static void nothing_is_right_where_nothing_is_compared(void **state)
{
    (void)state;
    pkb_comparison c = {.dtype = PKB_F32, .check = PKB_CHECK_FLOAT};
    assert_false(pkb_compare(&c).is_wrong);
}

static void errors_are_relative_and_need_no_tolerance(void **state)
{
    (void)state;
    static sample s;
    sample_fill(&s, 8.0);
    pkb_comparison c = of_sample(&s);
    c.tolerance = (pkb_tolerance){0};
    double sum = 0.0;
    for (size_t i = 0; i < COUNT; i++)
        sum += s.oracle[i] * s.oracle[i];
    const double rms = sqrt(sum / COUNT);

    s.out[5 * COLUMNS] += 1.0F;
    pkb_tolerance found = pkb_compare_errors(&c);
    assert_true(fabs(found.max * rms - 1.0) < 1e-5);
    assert_true(fabs(found.norm * rms * sqrt(COUNT) - 1.0) < 1e-3);
    assert_true(found.norm < found.block && found.block < found.max);

    s.out[7] = NAN;
    found = pkb_compare_errors(&c);
    assert_true(isinf(found.norm) && isinf(found.block) && isinf(found.max));
}

static void an_all_zero_oracle_has_no_scale(void **state)
{
    (void)state;
    static sample s; /* zero */
    pkb_comparison c = of_sample(&s);
    assert_true(pkb_compare_errors(&c).max == 0.0);
    s.out[COUNT - 1] = 1e-30F;
    assert_true(isinf(pkb_compare_errors(&c).max));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rounded_oracle_is_right),
        cmocka_unit_test(an_error_in_any_single_element_is_found),
        cmocka_unit_test(errors_are_found_in_every_output_of_every_rank),
        cmocka_unit_test(scaling_by_powers_of_two_changes_nothing),
        cmocka_unit_test(a_wrong_tile_with_small_elements_is_found_by_its_block),
        cmocka_unit_test(a_small_error_everywhere_is_found_by_the_norm),
        cmocka_unit_test(four_times_the_error_of_the_reference_is_allowed),
        cmocka_unit_test(special_values_follow_the_table),
        cmocka_unit_test(an_all_zero_oracle_wants_zeros),
        cmocka_unit_test(every_half_is_right_for_itself),
        cmocka_unit_test(integers_are_compared_exactly_where_doubles_cannot),
        cmocka_unit_test(exact_floats_are_compared_with_the_rounded_oracle),
        cmocka_unit_test(either_code_of_a_tie_is_right),
        cmocka_unit_test(complex_elements_are_counted_as_one),
        cmocka_unit_test(nothing_is_right_where_nothing_is_compared),
        cmocka_unit_test(errors_are_relative_and_need_no_tolerance),
        cmocka_unit_test(an_all_zero_oracle_has_no_scale),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
