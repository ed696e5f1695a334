/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/judge/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "harness/judge/pattern.h"

enum { RANK = 1, SLOTS = 2, ENTRIES = 2 };

/* x: in, 5 of up to 9 floats here; only rank 0 has `root`; y: out, 7 floats. */
static pkb_layout make_layout(void)
{
    pkb_layout layout = {.rank = RANK, .world = 2, .argument_count = 3, .slot_count = SLOTS};
    const char *const names[] = {"x", "root", "y"};
    const pkb_role roles[] = {PKB_ROLE_IN, PKB_ROLE_IN, PKB_ROLE_OUT};
    const uint64_t lengths[][2] = {{9, 5}, {4, 4}, {7, 7}};
    for (uint32_t i = 0; i < 3; i++) {
        pkb_argument *argument = &layout.arguments[i];
        strcpy(argument->name, names[i]);
        argument->role = roles[i];
        argument->dtype = PKB_F32;
        argument->shape_count = 1;
        for (uint32_t rank = 0; rank < 2; rank++) {
            argument->shape[rank][0] = lengths[i][rank];
            argument->present[rank] = i != 1 || rank == 0;
        }
    }
    layout.entry_count = ENTRIES;
    assert_int_equal(pkb_layout_place(&layout, NULL), PKB_OK);
    return layout;
}

static int set_up(void **state)
{
    pkb_layout layout = make_layout();
    pkb_memory *memory = NULL;
    assert_int_equal(pkb_memory_create(&memory, pkb_judge_device_cpu(), &layout, 77, NULL), PKB_OK);
    for (uint32_t entry = 0; entry < ENTRIES; entry++) {
        for (uint32_t i = 0; i < 3; i++) {
            memory->draws[entry].bytes[i] = layout.arguments[i].bytes[RANK];
            memory->draws[entry].shape[i][0] = layout.arguments[i].shape[RANK][0];
        }
        memset(pkb_memory_inputs(memory, entry), 10 + (int)entry, layout.slot_stride);
    }
    for (uint32_t slot = 0; slot < SLOTS; slot++)
        pkb_memory_load(memory, slot, slot, 1000 + slot);
    *state = memory;
    return 0;
}

static int tear_down(void **state)
{
    pkb_memory_free(*state);
    return 0;
}

static char *byte_of(pkb_memory *memory, uint32_t slot, uint32_t argument, int64_t offset)
{
    return (char *)pkb_memory_slot(memory, slot) +
           (int64_t)memory->layout.arguments[argument].offset + offset;
}

static void check_clean(pkb_memory *memory)
{
    pkb_finding finding;
    pkb_finding_init(&finding, RANK);
    pkb_memory_verify_guards(memory, &finding);
    for (uint32_t slot = 0; slot < SLOTS; slot++)
        pkb_memory_verify_inputs(memory, slot, &finding);
    assert_int_equal(finding.verdict, PKB_VERDICT_CORRECT);
}

static void an_untouched_slot_is_clean(void **state)
{
    check_clean(*state);
}

static void inputs_are_the_entrys_and_outputs_are_poison(void **state)
{
    pkb_memory *memory = *state;
    uint64_t at = memory->layout.arguments[2].offset;
    assert_int_equal(*byte_of(memory, 1, 0, 0), 11);
    assert_true(pkb_pattern_holds(pkb_memory_slot(memory, 1), at, at + 28, 1001, &at));
    assert_false(pkb_pattern_holds(pkb_memory_slot(memory, 1), at, at + 28, 1000, &at));
}

static void a_write_to_an_output_is_allowed(void **state)
{
    pkb_memory *memory = *state;
    memset(byte_of(memory, 0, 2, 0), 0, 28);
    check_clean(memory);
}

/* Every byte of a slot that no argument of this rank uses is watched. */
static void every_guard_byte_is_watched(void **state)
{
    pkb_memory *memory = *state;
    const pkb_layout *layout = &memory->layout;
    uint64_t watched = 0;
    for (uint64_t at = 0; at < layout->slot_stride; at++) {
        bool is_used = false;
        for (uint32_t i = 0; i < 3; i++)
            is_used |= at >= layout->arguments[i].offset &&
                       at < layout->arguments[i].offset + layout->arguments[i].bytes[RANK];
        if (is_used)
            continue;
        char *byte = (char *)pkb_memory_slot(memory, 1) + at;
        pkb_finding finding;
        pkb_finding_init(&finding, RANK);
        *byte = (char)(*byte ^ 1);
        pkb_memory_verify_guards(memory, &finding);
        *byte = (char)(*byte ^ 1);
        assert_int_equal(finding.verdict, PKB_VERDICT_OUT_OF_BOUNDS);
        watched++;
    }
    assert_int_equal(watched, layout->slot_stride - 20 - 28);
}

/* A cell may write anywhere in its staging, also where no argument lies. */
static void nothing_of_an_attempt_is_left(void **state)
{
    pkb_memory *memory = *state;
    char *staging = memory->staging.address, *symmetric = memory->symmetric.address;
    memset(staging, 1, memory->staging.bytes);
    memset(symmetric, 1, 4096);
    symmetric[memory->symmetric.bytes - 1] = 1;
    assert_int_equal(pkb_memory_forget(memory, NULL), PKB_OK);
    for (size_t at = 0; at < memory->staging.bytes; at++)
        assert_int_equal(staging[at], 0);
    for (size_t at = 0; at < 4096; at++)
        assert_int_equal(symmetric[at], 0);
    assert_int_equal(symmetric[memory->symmetric.bytes - 1], 0);
}

static void check_reason(pkb_memory *memory, uint32_t argument, int64_t offset, const char *part)
{
    pkb_finding finding;
    pkb_finding_init(&finding, RANK);
    char *byte = byte_of(memory, 0, argument, offset), before = *byte;
    *byte = (char)(before + 1);
    pkb_memory_verify_guards(memory, &finding);
    *byte = before;
    assert_non_null(strstr(finding.reason, part));
    assert_non_null(strstr(finding.reason, "rank 1"));
}

static void the_reason_names_the_argument_and_the_distance(void **state)
{
    pkb_memory *memory = *state;
    check_reason(memory, 0, 20, "memory right behind the end of argument x was written");
    check_reason(memory, 0, 35, "15 bytes past the end of argument x");
    check_reason(memory, 0, -4, "4 bytes before argument x");
    check_reason(memory, 2, 28 + 64, "64 bytes past the end of argument y");
    check_reason(memory, 1, 3, "argument root, which this rank does not have");
}

static void a_changed_input_is_named_with_its_index(void **state)
{
    pkb_memory *memory = *state;
    pkb_finding finding;
    pkb_finding_init(&finding, RANK);
    *byte_of(memory, 1, 0, 4 * 4 + 1) = 0;
    pkb_memory_verify_inputs(memory, 1, &finding);
    assert_int_equal(finding.verdict, PKB_VERDICT_INPUT_MUTATED);
    assert_non_null(strstr(finding.reason, "x[4]"));
}

static void a_late_write_is_wrong_and_one_to_an_older_slot_a_replay(void **state)
{
    pkb_memory *memory = *state;
    pkb_finding finding;
    pkb_memory_settle(memory, 0);
    pkb_memory_settle(memory, 1);
    *byte_of(memory, 1, 2, 3) = 0;
    pkb_finding_init(&finding, RANK);
    pkb_memory_verify_outputs(memory, 1, &finding);
    assert_int_equal(finding.verdict, PKB_VERDICT_WRONG_OUTPUT);
    pkb_finding_init(&finding, RANK);
    pkb_memory_verify_outputs(memory, 0, &finding);
    assert_int_equal(finding.verdict, PKB_VERDICT_STATE_REPLAY);
}

static void a_staged_slot_holds_no_input_before_the_call(void **state)
{
    pkb_memory *memory = *state;
    pkb_memory_stage(memory, 0, 1, 5);
    uint64_t at = memory->layout.arguments[0].offset;
    assert_true(pkb_pattern_holds(pkb_memory_slot(memory, 0), at, at + 20, 5, &at));
    assert_int_equal(*((char *)pkb_memory_staged(memory, 0) + at), 11);
    pkb_memory_blank(memory, 0, 1, 6);
    assert_true(pkb_pattern_holds(pkb_memory_staged(memory, 0), at, at + 20, 6, &at));
}

static void pattern_bytes_are_no_booleans_and_differ_by_key(void **state)
{
    (void)state;
    unsigned char a[4096], b[4096];
    size_t equal = 0;
    pkb_pattern_fill(a, 0, sizeof a, 1);
    pkb_pattern_fill(b, 0, sizeof b, 2);
    for (size_t i = 0; i < sizeof a; i++) {
        assert_true(a[i] > 1);
        equal += a[i] == b[i];
    }
    assert_true(equal < sizeof a / 32);
}

static void a_pattern_part_equals_the_whole(void **state)
{
    (void)state;
    unsigned char whole[200], part[200];
    pkb_pattern_fill(whole, 0, sizeof whole, 9);
    for (uint64_t begin = 0; begin < 20; begin++)
        for (uint64_t end = begin; end < 40; end++) {
            uint64_t at = 0;
            memset(part, 0, sizeof part);
            pkb_pattern_fill(part, begin, end, 9);
            assert_memory_equal(part + begin, whole + begin, end - begin);
            assert_true(pkb_pattern_holds(part, begin, end, 9, &at));
            if (end > begin) {
                part[end - 1] ^= 4;
                assert_false(pkb_pattern_holds(part, begin, end, 9, &at));
                assert_int_equal(at, end - 1);
            }
        }
}

int main(void)
{
#define MEMORY_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        MEMORY_TEST(an_untouched_slot_is_clean),
        MEMORY_TEST(inputs_are_the_entrys_and_outputs_are_poison),
        MEMORY_TEST(a_write_to_an_output_is_allowed),
        MEMORY_TEST(every_guard_byte_is_watched),
        MEMORY_TEST(nothing_of_an_attempt_is_left),
        MEMORY_TEST(the_reason_names_the_argument_and_the_distance),
        MEMORY_TEST(a_changed_input_is_named_with_its_index),
        MEMORY_TEST(a_late_write_is_wrong_and_one_to_an_older_slot_a_replay),
        MEMORY_TEST(a_staged_slot_holds_no_input_before_the_call),
        cmocka_unit_test(pattern_bytes_are_no_booleans_and_differ_by_key),
        cmocka_unit_test(a_pattern_part_equals_the_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
