/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/judge/device.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "harness/judge/pattern.h"

enum { BYTES = 512 };

static _Alignas(8) char memory[BYTES], other[BYTES];

static const pkb_judge_device *device(void)
{
    return pkb_judge_device_cpu();
}

static void every_span_is_filled_and_nothing_between(void **state)
{
    (void)state;
    const pkb_span spans[] = {{.base = memory, .begin = 3, .end = 20, .key = 1},
                              {.base = memory, .begin = 24, .end = 24, .key = 2},
                              {.base = memory, .begin = 33, .end = 64, .key = 3}};
    uint64_t at = 0;
    memset(memory, 0, sizeof memory);
    device()->fill(spans, 3);
    assert_true(pkb_pattern_holds(memory, 3, 20, 1, &at));
    assert_true(pkb_pattern_holds(memory, 33, 64, 3, &at));
    for (uint64_t i = 0; i < BYTES; i++)
        if (i < 3 || (i >= 20 && i < 33) || i >= 64)
            assert_int_equal(memory[i], 0);
}

static void the_first_damaged_span_is_found(void **state)
{
    (void)state;
    const pkb_span spans[] = {{.base = memory, .begin = 0, .end = 9, .key = 1},
                              {.base = memory, .begin = 16, .end = 40, .key = 2},
                              {.base = memory, .begin = 48, .end = 60, .key = 3}};
    pkb_spot spot = {0};
    device()->fill(spans, 3);
    assert_false(device()->find_damage(spans, 3, &spot));
    memory[12] = 0; /* in none of them */
    assert_false(device()->find_damage(spans, 3, &spot));
    memory[59] = 0;
    memory[33] = 0;
    assert_true(device()->find_damage(spans, 3, &spot));
    assert_int_equal(spot.span, 1);
    assert_int_equal(spot.at, 33);
}

static void a_copy_has_no_difference(void **state)
{
    (void)state;
    const pkb_span spans[] = {{.base = memory, .begin = 5, .end = 21, .other = other},
                              {.base = memory, .begin = 40, .end = 41, .other = other}};
    pkb_spot spot = {0};
    memset(memory, 1, sizeof memory);
    memset(other, 2, sizeof other);
    device()->copy(spans, 2);
    assert_false(device()->find_difference(spans, 2, &spot));
    assert_int_equal(memory[4], 1);
    assert_int_equal(memory[21], 1);
    memory[40] = 3;
    assert_true(device()->find_difference(spans, 2, &spot));
    assert_int_equal(spot.span, 1);
    assert_int_equal(spot.at, 40);
}

/* Also where bytes change places, and where a span's end moves. */
static void a_digest_tells_any_change(void **state)
{
    (void)state;
    const pkb_span whole = {.base = memory, .begin = 1, .end = BYTES - 3};
    const pkb_span shorter = {.base = memory, .begin = 1, .end = BYTES - 4};
    pkb_pattern_fill(memory, 0, BYTES, 7);
    uint64_t digest = device()->digest(&whole, 1, 5);
    assert_true(device()->digest(&whole, 1, 5) == digest);
    assert_true(device()->digest(&whole, 1, 6) != digest);
    assert_true(device()->digest(&shorter, 1, 5) != digest);
    for (int i = 1; i < BYTES - 3; i++) {
        memory[i] ^= 1;
        assert_true(device()->digest(&whole, 1, 5) != digest);
        memory[i] ^= 1;
    }
    memcpy(other, memory + 8, 8);
    memcpy(memory + 8, memory + 16, 8);
    memcpy(memory + 16, other, 8);
    assert_true(device()->digest(&whole, 1, 5) != digest);
}

static void spans_in_another_order_have_another_digest(void **state)
{
    (void)state;
    const pkb_span spans[] = {{.base = memory, .end = 64},
                              {.base = memory, .begin = 64, .end = 128}};
    const pkb_span turned[] = {spans[1], spans[0]};
    pkb_pattern_fill(memory, 0, BYTES, 7);
    assert_true(device()->digest(spans, 2, 5) != device()->digest(turned, 2, 5));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_span_is_filled_and_nothing_between),
        cmocka_unit_test(the_first_damaged_span_is_found),
        cmocka_unit_test(a_copy_has_no_difference),
        cmocka_unit_test(a_digest_tells_any_change),
        cmocka_unit_test(spans_in_another_order_have_another_digest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
