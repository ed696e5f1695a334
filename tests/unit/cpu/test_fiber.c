/* SPDX-License-Identifier: Apache-2.0
 *
 * Stack switching and the stack pool.
 */
#include "harness/cpu/device/fiber.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { STACK_BYTES = 32 * 1024 };

static void *main_context, *fiber_context;
static int trace[16], trace_count;

static void note(int value)
{
    trace[trace_count++] = value;
}

static void ping(void *argument)
{
    note(*(int *)argument);
    pkb_fiber_switch(&fiber_context, main_context);
    note(*(int *)argument + 1);
    pkb_fiber_jump(main_context);
}

static void fiber_runs_until_it_switches_back(void **state)
{
    int value = 10;
    void *top = pkb_stack_take(STACK_BYTES);

    (void)state;
    trace_count = 0;
    fiber_context = pkb_fiber_prepare(top, ping, &value);
    pkb_fiber_switch(&main_context, fiber_context);
    note(1);
    pkb_fiber_switch(&main_context, fiber_context);
    note(2);
    pkb_stack_give(top, STACK_BYTES);
    assert_int_equal(trace_count, 4);
    assert_int_equal(trace[0], 10);
    assert_int_equal(trace[1], 1);
    assert_int_equal(trace[2], 11);
    assert_int_equal(trace[3], 2);
}

static void *stack_top;

static void restart(void *argument)
{
    int *left = argument;

    note(*left);
    if (--*left == 0)
        pkb_fiber_jump(main_context);
    pkb_fiber_begin(stack_top, restart, left);
}

static void a_stack_can_be_begun_again_from_itself(void **state)
{
    int left = 5;

    (void)state;
    trace_count = 0;
    stack_top = pkb_stack_take(STACK_BYTES);
    pkb_fiber_switch(&main_context, pkb_fiber_prepare(stack_top, restart, &left));
    pkb_stack_give(stack_top, STACK_BYTES);
    assert_int_equal(trace_count, 5);
    assert_int_equal(trace[4], 1);
}

static void check_alignment(void *argument)
{
    double vector[4] __attribute__((aligned(32))) = {1, 2, 3, 4};

    *(uintptr_t *)argument = (uintptr_t)vector % 32 + (uintptr_t)__builtin_frame_address(0) % 16;
    pkb_fiber_jump(main_context);
}

static void first_frame_is_aligned_as_the_abi_demands(void **state)
{
    uintptr_t misalignment = 1;
    void *top = pkb_stack_take(STACK_BYTES);

    (void)state;
    pkb_fiber_switch(&main_context, pkb_fiber_prepare(top, check_alignment, &misalignment));
    pkb_stack_give(top, STACK_BYTES);
    assert_int_equal(misalignment, 0);
}

static void last_given_stack_is_taken_first(void **state)
{
    void *a = pkb_stack_take(STACK_BYTES), *b = pkb_stack_take(STACK_BYTES);

    (void)state;
    assert_ptr_not_equal(a, b);
    pkb_stack_give(a, STACK_BYTES);
    assert_ptr_equal(pkb_stack_take(STACK_BYTES), a);
    pkb_stack_give(a, STACK_BYTES);
    pkb_stack_give(b, STACK_BYTES);
}

static void stacks_are_distinct_aligned_and_writable(void **state)
{
    enum { COUNT = 5000 };
    static void *tops[COUNT];
    size_t before = pkb_stack_taken_count();

    (void)state;
    for (int i = 0; i < COUNT; i++) {
        tops[i] = pkb_stack_take(STACK_BYTES);
        assert_non_null(tops[i]);
        assert_int_equal((uintptr_t)tops[i] % 16, 0);
        memset((char *)tops[i] - STACK_BYTES + 4096, i & 0xff, 4096);
        ((char *)tops[i])[-1] = (char)i;
    }
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(((unsigned char *)tops[i])[-1], i & 0xff);
    assert_int_equal(pkb_stack_taken_count(), before + COUNT);
    for (int i = 0; i < COUNT; i++)
        pkb_stack_give(tops[i], STACK_BYTES);
    assert_int_equal(pkb_stack_taken_count(), before);
}

static void large_stacks_come_from_their_own_class(void **state)
{
    size_t bytes = 1000000;
    char *top = pkb_stack_take(bytes);

    (void)state;
    assert_non_null(top);
    memset(top - bytes, 1, bytes);
    pkb_stack_give(top, bytes);
}

static void overrun_is_told_of_stacks_without_guard(void **state)
{
    enum { COUNT = 4200 };
    static void *tops[COUNT];

    (void)state;
    for (int i = 0; i < COUNT; i++)
        tops[i] = pkb_stack_take(STACK_BYTES);
    assert_false(pkb_stack_is_overrun(tops[0], STACK_BYTES, 2 * STACK_BYTES));
    assert_false(pkb_stack_is_overrun(tops[COUNT - 1], STACK_BYTES, STACK_BYTES / 2));
    assert_true(pkb_stack_is_overrun(tops[COUNT - 1], STACK_BYTES, 2 * STACK_BYTES));
    for (int i = 0; i < COUNT; i++)
        pkb_stack_give(tops[i], STACK_BYTES);
}

static void stack_grows_once_and_ends_at_a_guard(void **state)
{
    char *top = pkb_stack_take(STACK_BYTES);
    uint64_t address = (uint64_t)(uintptr_t)top;

    (void)state;
    assert_int_equal(pkb_stack_note_fault((uint64_t)(uintptr_t)&address), PKB_STACK_NONE);
    uint64_t below = STACK_BYTES + 8192;
    assert_int_equal(pkb_stack_note_fault(address - below), PKB_STACK_GROWN);
    memset(top - below, 1, below);
    while (pkb_stack_note_fault(address - below) == PKB_STACK_GROWN)
        below += 4096;
    assert_int_equal(pkb_stack_note_fault(address - below), PKB_STACK_OVERFLOW);
    assert_true(below > 4 * STACK_BYTES - 4096);
    pkb_stack_give(top, STACK_BYTES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fiber_runs_until_it_switches_back),
        cmocka_unit_test(a_stack_can_be_begun_again_from_itself),
        cmocka_unit_test(first_frame_is_aligned_as_the_abi_demands),
        cmocka_unit_test(last_given_stack_is_taken_first),
        cmocka_unit_test(stacks_are_distinct_aligned_and_writable),
        cmocka_unit_test(overrun_is_told_of_stacks_without_guard),
        cmocka_unit_test(large_stacks_come_from_their_own_class),
        cmocka_unit_test(stack_grows_once_and_ends_at_a_guard),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
