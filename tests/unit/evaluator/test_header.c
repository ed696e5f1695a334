/* SPDX-License-Identifier: Apache-2.0
 *
 * Tests of evaluator/problem/header.c, problem.c and skeleton.c: what an attempt is given.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "evaluator/problem/header.h"
#include "evaluator/problem/skeleton.h"
#include "tests/unit/evaluator/sample_problem.h"

static pkb_problem *load(void)
{
    pkb_problem *problem = NULL;
    pkb_error err = {0};
    assert_int_equal(pkb_problem_parse(&problem, sample_problem, "007_sample", &err), PKB_OK);
    return problem;
}

static void every_dtype_has_its_c_type(void **state)
{
    static const char *const fields[] = {
        "const __nv_bfloat16 *a;", "const __half *b;",  "    float *c;",
        "const double *d;",        "const int8_t *e;",  "const uint8_t *f;",
        "const int32_t *g;",       "const uint8_t *h;", "const __nv_fp8_e4m3 *i;",
        "const __nv_fp8_e5m2 *j;", "    float2 *k;",    "    int64_t *n;",
        "    double alpha;",       "    int64_t root;", "const int64_t *offsets;"};
    pkb_problem *problem = load();
    pkb_buf text = {0};
    (void)state;
    pkb_header_write(&text, problem);
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
        if (strstr(pkb_buf_text(&text), fields[i]) == NULL)
            fail_msg("no field '%s' in\n%s", fields[i], pkb_buf_text(&text));
    pkb_buf_clear(&text);
    pkb_problem_free(problem);
}

static void dims_come_last_sizes_before_derived_ones(void **state)
{
    pkb_problem *problem = load();
    pkb_buf text = {0};
    (void)state;
    pkb_header_struct(&text, problem);
    assert_non_null(
        strstr(pkb_buf_text(&text),
               "    int64_t M;\n    int64_t E;\n    int64_t L;\n    int64_t edges;\n}"));
    pkb_buf_clear(&text);
    pkb_problem_free(problem);
}

static void only_the_headers_needed_are_included(void **state)
{
    static const char one[] =
        "{\"sizes\": [{\"values\": {\"M\": 1}}], \"arguments\": [{\"name\": \"x\", \"role\": "
        "\"in\", \"dtype\": \"bf16\", \"shape\": [\"M\"]}]}";
    pkb_problem *problem = NULL;
    pkb_buf text = {0};
    pkb_error err = {0};
    (void)state;
    assert_int_equal(pkb_problem_parse(&problem, one, "001_x", &err), PKB_OK);
    pkb_header_write(&text, problem);
    assert_non_null(strstr(pkb_buf_text(&text), "#include <cuda_bf16.h>"));
    assert_null(strstr(pkb_buf_text(&text), "cuda_fp8.h"));
    assert_null(strstr(pkb_buf_text(&text), "cuda_fp16.h"));
    pkb_buf_clear(&text);
    pkb_problem_free(problem);
}

static void a_broken_problem_is_named(void **state)
{
    static const char *const broken[][2] = {
        {"{", "not valid JSON"},
        {"{\"sizes\": [{\"values\": {}}]}", "\"arguments\""},
        {"{\"arguments\": []}", "\"sizes\""},
        {"{\"sizes\": [{\"values\": {}}], \"arguments\": [{\"name\": \"x\", \"role\": \"in\", "
         "\"dtype\": \"f8\"}]}",
         "unknown dtype 'f8'"},
        {"{\"sizes\": [{\"values\": {}}], \"arguments\": [{\"name\": \"x\", \"role\": \"no\", "
         "\"dtype\": \"f32\"}]}",
         "unknown role 'no'"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++) {
        pkb_problem *problem = NULL;
        pkb_error err = {0};
        assert_int_equal(pkb_problem_parse(&problem, broken[i][0], "009_broken", &err),
                         PKB_ERR_FORMAT);
        assert_non_null(strstr(err.message, "009_broken"));
        if (strstr(err.message, broken[i][1]) == NULL)
            fail_msg("'%s' does not say '%s'", err.message, broken[i][1]);
    }
}

static void skeleton_has_the_statement_and_all_entry_points(void **state)
{
    pkb_problem *problem = load();
    pkb_buf text = {0};
    (void)state;
    pkb_skeleton_write(&text, problem);
    assert_non_null(strstr(pkb_buf_text(&text), "Every rank does something."));
    assert_non_null(strstr(pkb_buf_text(&text), "int pkb_setup("));
    assert_non_null(strstr(pkb_buf_text(&text), "int pkb_run("));
    assert_non_null(strstr(pkb_buf_text(&text), "void pkb_teardown("));
    pkb_buf_clear(&text);
    pkb_problem_free(problem);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_dtype_has_its_c_type),
        cmocka_unit_test(dims_come_last_sizes_before_derived_ones),
        cmocka_unit_test(only_the_headers_needed_are_included),
        cmocka_unit_test(a_broken_problem_is_named),
        cmocka_unit_test(skeleton_has_the_statement_and_all_entry_points),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
