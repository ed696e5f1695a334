/* SPDX-License-Identifier: Apache-2.0
 *
 * Tests of evaluator/ranks/patience.c: limits of steps on the CPU device.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "evaluator/ranks/patience.h"

static double patience(const char *text, int world, int cores)
{
    cJSON *size = cJSON_Parse(text);
    double seconds = pkb_patience_s(size, world, cores, 20);
    cJSON_Delete(size);
    return seconds;
}

static void a_tiny_size_gets_the_base(void **state)
{
    (void)state;
    assert_float_equal(patience("{\"cost\": {\"flop\": 50000, \"hbm_bytes\": 5000}}", 2, 2), 20,
                       0.1);
    assert_float_equal(patience("{}", 2, 2), 20, 1e-9);
    assert_float_equal(patience("{\"cost\": {\"flop\": -1e30}}", 2, 2), 20, 1e-9);
}

static void work_and_shared_cores_take_longer(void **state)
{
    static const char gemm[] = "{\"cost\": {\"flop\": 1073741824, \"hbm_bytes\": 4194304}}";
    (void)state;
    assert_true(patience(gemm, 2, 2) > 100);
    assert_float_equal(patience(gemm, 2, 2), patience(gemm, 2, 16), 1e-9);
    double more = patience(gemm, 4, 2) - 20, less = patience(gemm, 2, 2) - 20;
    assert_true(more > 3.99 * less && more < 4.01 * less);
}

static void there_is_an_end(void **state)
{
    (void)state;
    assert_float_equal(patience("{\"cost\": {\"flop\": 1e18}}", 8, 2), 3600, 1e-9);
}

static void each_size_of_a_plan_has_its_own(void **state)
{
    cJSON *plan = cJSON_Parse("{\"sizes\": [{}, {\"cost\": {\"flop\": 1e18}}]}");
    cJSON *all = pkb_patience_of_plan(plan, 2, 20);
    (void)state;
    assert_int_equal(cJSON_GetArraySize(all), 2);
    assert_float_equal(cJSON_GetArrayItem(all, 0)->valuedouble, 20, 1e-9);
    assert_float_equal(cJSON_GetArrayItem(all, 1)->valuedouble, 3600, 1e-9);
    cJSON_Delete(all);
    cJSON_Delete(plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tiny_size_gets_the_base),
        cmocka_unit_test(work_and_shared_cores_take_longer),
        cmocka_unit_test(there_is_an_end),
        cmocka_unit_test(each_size_of_a_plan_has_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
