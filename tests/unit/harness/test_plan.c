/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/judge/plan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A plan with the given text in place of four of its parts. */
#define PLAN(version, shape, check, tolerance)                                                   \
    "{\"plan\":" version ",\"problem\":\"013_gemm_allreduce\",\"file\":\"/p.json\",\"world\":2," \
    "\"deterministic\":true,\"sizes\":[{\"size\":\"tiny\",\"class\":\"tiny\",\"grid\":\"tp2\","  \
    "\"axes\":[{\"name\":\"tp\",\"size\":2}],"                                                   \
    "\"dims\":[{\"name\":\"M\",\"values\":[37,35],\"drawn\":true}],"                             \
    "\"families\":[\"nominal\",\"integers\"],\"arguments\":["                                    \
    "{\"name\":\"A\",\"role\":\"in\",\"dtype\":\"bf16\",\"shape\":" shape ","                    \
    "\"present\":[true,false]},"                                                                 \
    "{\"name\":\"alpha\",\"role\":\"scalar\",\"dtype\":\"f64\",\"shape\":[[],[]]},"              \
    "{\"name\":\"C\",\"role\":\"out\",\"dtype\":\"f32\",\"shape\":[[5,6],[5,6]],"                \
    "\"count\":\"rows\",\"check\":" check ",\"tolerance\":" tolerance "},"                       \
    "{\"name\":\"rows\",\"role\":\"out\",\"dtype\":\"i64\",\"shape\":[[1],[1]],"                 \
    "\"check\":{\"default\":\"exact\"}}]}]}"

#define SHAPE "[[37,24],[35,24]]"
#define CHECK "{\"default\":\"float\",\"integers\":\"exact\"}"
#define TOLERANCE "{\"norm\":0.004,\"block\":6e-3,\"max\":3E-2}"

static pkb_plan *parse(const char *text)
{
    pkb_plan *plan = NULL;
    pkb_error err = {0};
    if (pkb_plan_parse(&plan, text, strlen(text), 1, &err) != PKB_OK)
        fail_msg("%s", err.message);
    return plan;
}

static void refuse(const char *text, const char *part)
{
    pkb_plan *plan = NULL;
    pkb_error err = {0};
    assert_int_equal(pkb_plan_parse(&plan, text, strlen(text), 1, &err), PKB_ERR_FORMAT);
    assert_null(plan);
    if (strstr(err.message, part) == NULL)
        fail_msg("'%s' does not say '%s'", err.message, part);
}

static void a_plan_becomes_a_layout(void **state)
{
    (void)state;
    pkb_plan *plan = parse(PLAN("1", SHAPE, CHECK, TOLERANCE));
    pkb_layout *layout = &plan->sizes[0].layout;
    assert_int_equal(plan->size_count, 1);
    assert_true(plan->is_deterministic);
    assert_int_equal(layout->rank, 1);
    assert_int_equal(layout->argument_count, 4);
    assert_int_equal(layout->arguments[0].shape[1][0], 35);
    assert_false(layout->arguments[0].present[1]);
    assert_true(layout->arguments[2].present[1]);
    assert_int_equal(layout->arguments[2].count_argument, 4);
    assert_int_equal(layout->dims[0][0], 37);
    assert_true(layout->dim_drawn[0]);
    assert_int_equal(layout->axes[0].size, 2);
    pkb_plan_free(plan);
}

static void checks_differ_by_family(void **state)
{
    (void)state;
    pkb_plan *plan = parse(PLAN("1", SHAPE, CHECK, TOLERANCE));
    const pkb_output_rule *rule = &plan->sizes[0].rules[2];
    assert_int_equal(rule->checks[0], PKB_CHECK_FLOAT);
    assert_int_equal(rule->checks[1], PKB_CHECK_EXACT);
    assert_true(rule->tolerance.norm == 0.004 && rule->tolerance.max == 0.03);
    assert_int_equal(plan->sizes[0].rules[3].checks[1], PKB_CHECK_EXACT);
    pkb_plan_free(plan);
}

static void a_size_is_meant_by_name_or_class(void **state)
{
    (void)state;
    pkb_plan_size size = {.name = "tiny_row", .class_name = "tiny"};
    assert_true(pkb_plan_size_is(&size, "tiny"));
    assert_true(pkb_plan_size_is(&size, "tiny_row"));
    assert_false(pkb_plan_size_is(&size, "pkb"));
}

static void a_tolerance_is_never_assumed(void **state)
{
    (void)state;
    refuse(PLAN("1", SHAPE, CHECK, "{\"norm\":0.004,\"block\":0.006}"), "max");
    refuse(PLAN("1", SHAPE, CHECK, "{\"norm\":0.004,\"block\":-1,\"max\":1}"), "block");
    refuse(PLAN("1", SHAPE, CHECK, "{\"norm\":\"0.004\",\"block\":1,\"max\":1}"), "norm");
    refuse(PLAN("1", SHAPE, CHECK, "null"), "tolerance");
}

static void malformed_plans_are_refused(void **state)
{
    (void)state;
    refuse("{", "plan");
    refuse("[]", "plan");
    refuse(PLAN("2", SHAPE, CHECK, TOLERANCE), "version");
    refuse(PLAN("1", "[[37,24]]", CHECK, TOLERANCE), "one entry a rank");
    refuse(PLAN("1", "[[37,24],[1.5e300,2]]", CHECK, TOLERANCE), "whole number");
    refuse(PLAN("1", "[[37,-1],[2,2]]", CHECK, TOLERANCE), "whole number");
    refuse(PLAN("1", "[[37,24],[24]]", CHECK, TOLERANCE), "axes");
    refuse(PLAN("1", "[[1,1,1,1,1,1,1],[1]]", CHECK, TOLERANCE), "'A'");
    refuse(PLAN("1", "[[4e15,4e15],[1,1]]", CHECK, TOLERANCE), "too large");
    refuse(PLAN("1", SHAPE, "{\"default\":\"close enough\"}", TOLERANCE), "no check");
    refuse(PLAN("1", SHAPE, "{}", TOLERANCE), "default");
}

/* Cutting a plan anywhere is refused without a crash (run under ASan as well). */
static void every_cut_is_refused(void **state)
{
    (void)state;
    const char *text = PLAN("1", SHAPE, CHECK, TOLERANCE);
    for (size_t bytes = 0; bytes < strlen(text); bytes++) {
        pkb_plan *plan = NULL;
        char *cut = malloc(bytes + 1);
        memcpy(cut, text, bytes);
        cut[bytes] = '\0';
        assert_int_not_equal(pkb_plan_parse(&plan, cut, bytes, 0, NULL), PKB_OK);
        free(cut);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plan_becomes_a_layout),
        cmocka_unit_test(checks_differ_by_family),
        cmocka_unit_test(a_size_is_meant_by_name_or_class),
        cmocka_unit_test(a_tolerance_is_never_assumed),
        cmocka_unit_test(malformed_plans_are_refused),
        cmocka_unit_test(every_cut_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
