/* SPDX-License-Identifier: Apache-2.0
 *
 * Tests of evaluator/machine/cores.c: who gets which cores.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "evaluator/machine/cores.h"

/* Cores 4, 5, … of a node whose first ones are somebody else's. */
static cpu_set_t some_cores(int count)
{
    enum { FIRST = 4 };
    cpu_set_t set;

    CPU_ZERO(&set);
    for (size_t i = 0; i < (size_t)count; i++)
        CPU_SET(FIRST + i, &set);
    return set;
}

static void expect(int usable_count, int ranks, int compiling_count)
{
    const cpu_set_t usable = some_cores(usable_count);
    cpu_set_t judging, compiling, both;

    assert_int_equal(pkb_cores_part(&usable, ranks, &judging, &compiling), compiling_count > 0);
    if (compiling_count == 0) {
        assert_true(CPU_EQUAL(&judging, &usable));
        assert_true(CPU_EQUAL(&compiling, &usable));
        return;
    }
    assert_int_equal(CPU_COUNT(&compiling), compiling_count);
    CPU_AND(&both, &judging, &compiling);
    assert_int_equal(CPU_COUNT(&both), 0);
    CPU_OR(&both, &judging, &compiling);
    assert_true(CPU_EQUAL(&both, &usable));
    assert_true(CPU_COUNT(&judging) >= PKB_CORES_A_RANK * ranks);
}

static void ranks_keep_three_cores_each(void **state)
{
    (void)state;
    for (int ranks = 1; ranks <= 16; ranks++) {
        const int needed = PKB_CORES_A_RANK * ranks;
        expect(needed + PKB_COMPILER_CORES_LEAST, ranks, PKB_COMPILER_CORES_LEAST);
        expect(needed + 5, ranks, 5);
        expect(needed + 200, ranks, PKB_COMPILER_CORES_MOST);
    }
}

static void too_few_cores_are_shared(void **state)
{
    (void)state;
    expect(1, 1, 0);
    expect(2, 2, 0);
    expect(PKB_CORES_A_RANK * 2 + PKB_COMPILER_CORES_LEAST - 1, 2, 0);
    expect(32, 16, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_keep_three_cores_each),
        cmocka_unit_test(too_few_cores_are_shared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
