/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/judge/outputs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

#include <cmocka.h>

enum { NOW, EARLIER, ENTRIES, COUNT = 64 };

/* One output y of COUNT floats, compared exactly. */
static int set_up(void **state)
{
    pkb_layout layout = {.world = 1, .argument_count = 1, .slot_count = 1, .entry_count = ENTRIES};
    pkb_argument *y = &layout.arguments[0];
    pkb_memory *memory = NULL;

    strcpy(y->name, "y");
    y->role = PKB_ROLE_OUT;
    y->dtype = PKB_F32;
    y->shape_count = 1;
    y->shape[0][0] = COUNT;
    y->present[0] = true;
    assert_int_equal(pkb_layout_place(&layout, NULL), PKB_OK);
    assert_int_equal(pkb_memory_create(&memory, pkb_judge_device_cpu(), &layout, 77, NULL), PKB_OK);
    for (uint32_t entry = 0; entry < ENTRIES; entry++) {
        memory->draws[entry].bytes[0] = layout.arguments[0].bytes[0];
        memory->draws[entry].shape[0][0] = COUNT;
    }
    *state = memory;
    return 0;
}

static int tear_down(void **state)
{
    pkb_memory_free(*state);
    return 0;
}

static double *expected(pkb_memory *memory, uint32_t entry)
{
    return (void *)((char *)pkb_memory_oracle(memory, entry) +
                    memory->layout.arguments[0].oracle_offset);
}

/* An output that has the values expected of the earlier draw. */
static pkb_verdict judge(pkb_memory *memory, pkb_check check)
{
    const pkb_plan_size size = {.rules[0].checks[0] = check};
    const uint32_t past[] = {EARLIER};
    float *y = (void *)((char *)pkb_memory_slot(memory, 0) + memory->layout.arguments[0].offset);
    const pkb_outputs_place place = {.image = pkb_memory_slot(memory, 0),
                                     .entry = NOW,
                                     .phase = "a test",
                                     .comment = "",
                                     .past_count = 1,
                                     .past = past};
    pkb_finding finding;

    for (int i = 0; i < COUNT; i++)
        y[i] = (float)expected(memory, EARLIER)[i];
    pkb_finding_init(&finding, 0);
    pkb_outputs_compare(memory, &size, &place, &finding);
    return finding.verdict;
}

static pkb_verdict judge_replay(pkb_memory *memory)
{
    return judge(memory, PKB_CHECK_EXACT);
}

static void values_of_an_earlier_draw_are_a_replay(void **state)
{
    for (int i = 0; i < COUNT; i++) {
        expected(*state, NOW)[i] = i + 1;
        expected(*state, EARLIER)[i] = i + 2;
    }
    assert_int_equal(judge_replay(*state), PKB_VERDICT_STATE_REPLAY);
}

static void zeros_of_an_earlier_draw_are_only_wrong(void **state)
{
    for (int i = 0; i < COUNT; i++) {
        expected(*state, NOW)[i] = i + 1;
        expected(*state, EARLIER)[i] = i % 2 == 0 ? 0 : -0.0;
    }
    assert_int_equal(judge_replay(*state), PKB_VERDICT_WRONG_OUTPUT);
}

static void one_number_everywhere_is_only_wrong(void **state)
{
    for (int i = 0; i < COUNT; i++) {
        expected(*state, NOW)[i] = i + 1;
        expected(*state, EARLIER)[i] = -1;
    }
    assert_int_equal(judge_replay(*state), PKB_VERDICT_WRONG_OUTPUT);
}

static void a_few_values_of_an_earlier_draw_are_only_wrong(void **state)
{
    for (int i = 0; i < COUNT; i++) {
        expected(*state, NOW)[i] = i + 1;
        expected(*state, EARLIER)[i] = i < 15 ? i + 2 : 0;
    }
    assert_int_equal(judge_replay(*state), PKB_VERDICT_WRONG_OUTPUT);
    expected(*state, EARLIER)[15] = 17;
    assert_int_equal(judge_replay(*state), PKB_VERDICT_STATE_REPLAY);
}

static void current_values_are_right(void **state)
{
    for (int i = 0; i < COUNT; i++)
        expected(*state, NOW)[i] = expected(*state, EARLIER)[i] = i;
    assert_int_equal(judge_replay(*state), PKB_VERDICT_CORRECT);
}

/* Of a device that looks at all but the last element. */
static void survey_in_part(pkb_survey *out, const pkb_comparison *comparison)
{
    pkb_comparison part = *comparison;
    part.element_count--;
    pkb_survey_take(out, &part);
}

static pkb_tally tally_in_part(const pkb_comparison *comparison, pkb_tally_rule rule, double limit)
{
    pkb_comparison part = *comparison;
    part.element_count--;
    return pkb_tally_take(&part, rule, limit);
}

static void what_was_not_looked_at_is_not_right(void **state)
{
    pkb_memory *memory = *state;
    pkb_judge_device broken = *memory->device;
    const pkb_judge_device *whole = memory->device;

    broken.survey = survey_in_part;
    broken.tally = tally_in_part;
    for (int i = 0; i < COUNT; i++)
        expected(memory, NOW)[i] = expected(memory, EARLIER)[i] = i;
    memory->device = &broken;
    assert_int_equal(judge(memory, PKB_CHECK_EXACT), PKB_VERDICT_INFRA_ERROR);
    assert_int_equal(judge(memory, PKB_CHECK_FLOAT), PKB_VERDICT_INFRA_ERROR);
    memory->device = whole;
    assert_int_equal(judge(memory, PKB_CHECK_FLOAT), PKB_VERDICT_CORRECT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(values_of_an_earlier_draw_are_a_replay, set_up, tear_down),
        cmocka_unit_test_setup_teardown(zeros_of_an_earlier_draw_are_only_wrong, set_up, tear_down),
        cmocka_unit_test_setup_teardown(one_number_everywhere_is_only_wrong, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_few_values_of_an_earlier_draw_are_only_wrong, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(current_values_are_right, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_was_not_looked_at_is_not_right, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
