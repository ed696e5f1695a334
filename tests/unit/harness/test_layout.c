/* SPDX-License-Identifier: Apache-2.0
 *
 * Where arguments, slots, arenas and pool entries come to lie.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "harness/memory/layout.h"

/* A world of two with one in, one out of another size on each rank, a scalar, an empty tensor, one
 * that only rank 1 has, and a host array. */
static pkb_layout *make(void)
{
    pkb_layout *layout = calloc(1, sizeof *layout);
    const pkb_argument arguments[] = {
        {.name = "in", .role = PKB_ROLE_IN, .dtype = PKB_BF16, .shape_count = 2},
        {.name = "out", .role = PKB_ROLE_OUT, .dtype = PKB_C64, .shape_count = 1},
        {.name = "alpha", .role = PKB_ROLE_SCALAR, .dtype = PKB_F64},
        {.name = "empty", .role = PKB_ROLE_IN, .dtype = PKB_F32, .shape_count = 1},
        {.name = "root", .role = PKB_ROLE_INOUT, .dtype = PKB_E4M3, .shape_count = 1},
        {.name = "offsets", .role = PKB_ROLE_HOST, .dtype = PKB_I64, .shape_count = 1},
    };

    assert_non_null(layout);
    layout->world = 2;
    layout->argument_count = sizeof arguments / sizeof arguments[0];
    layout->slot_count = 3;
    layout->entry_count = 2;
    memcpy(layout->arguments, arguments, sizeof arguments);
    for (uint32_t r = 0; r < 2; r++) {
        layout->arguments[0].shape[r][0] = 37;
        layout->arguments[0].shape[r][1] = 24 + r;
        layout->arguments[1].shape[r][0] = 11;
        layout->arguments[4].shape[r][0] = 100;
        layout->arguments[5].shape[r][0] = 4;
        for (uint32_t i = 0; i < layout->argument_count; i++)
            layout->arguments[i].present[r] = i != 4 || r == 1;
    }
    return layout;
}

static void extents_are_the_largest_over_ranks(void **state)
{
    pkb_layout *layout = make();
    (void)state;

    assert_int_equal(pkb_layout_place(layout, NULL), PKB_OK);
    assert_int_equal(layout->arguments[0].bytes[0], 37 * 24 * 2);
    assert_int_equal(layout->arguments[0].bytes[1], 37 * 25 * 2);
    assert_int_equal(layout->arguments[0].extent_bytes, 37 * 25 * 2);
    assert_int_equal(layout->arguments[3].extent_bytes, 0);
    assert_int_equal(layout->arguments[4].bytes[0], 0);
    assert_int_equal(layout->arguments[4].extent_bytes, 100);
    free(layout);
}

static void arguments_are_aligned_and_guarded(void **state)
{
    pkb_layout *layout = make();
    uint64_t end = 0;
    (void)state;

    assert_int_equal(pkb_layout_place(layout, NULL), PKB_OK);
    for (uint32_t i = 0; i < layout->argument_count; i++) {
        const pkb_argument *argument = &layout->arguments[i];
        if (argument->role == PKB_ROLE_SCALAR)
            continue;
        assert_int_equal(argument->offset % PKB_ARGUMENT_ALIGN, 0);
        assert_true(argument->offset >= end + PKB_GUARD_BYTES);
        end = argument->offset + argument->extent_bytes;
    }
    assert_true(layout->slot_stride >= end + PKB_GUARD_BYTES);
    assert_int_equal(layout->slot_stride % 4096, 0);
    free(layout);
}

static void symmetric_memory_follows_the_slots(void **state)
{
    pkb_layout *layout = make();
    (void)state;

    assert_int_equal(pkb_layout_place(layout, NULL), PKB_OK);
    assert_int_equal(layout->slots_bytes, 3 * layout->slot_stride);
    assert_true(pkb_layout_symmetric_offset(layout) >= layout->slots_bytes);
    assert_int_equal(pkb_layout_symmetric_offset(layout) % (2 << 20), 0);
    assert_int_equal(layout->rank_stride % (2 << 20), 0);
    assert_int_equal(layout->symmetric_bytes, PKB_SYMMETRIC_LIMIT_BYTES);
    free(layout);
}

static void symmetric_memory_may_be_smaller(void **state)
{
    pkb_layout *layout = make();
    (void)state;

    layout->symmetric_bytes = 4 << 20;
    assert_int_equal(pkb_layout_place(layout, NULL), PKB_OK);
    assert_int_equal(layout->symmetric_bytes, 4 << 20);
    assert_true(pkb_layout_symmetric_offset(layout) >= layout->slots_bytes);
    assert_int_equal(layout->rank_stride % (2 << 20), 0);
    free(layout);
}

static void oracles_have_room_for_alternatives(void **state)
{
    pkb_layout *layout = make();
    const pkb_argument *out = &layout->arguments[1], *root = &layout->arguments[4];
    (void)state;

    assert_int_equal(pkb_layout_place(layout, NULL), PKB_OK);
    assert_int_equal(pkb_argument_oracle_bytes(out, 0), 176);
    assert_int_equal(pkb_argument_alt_offset(out, 0), 256);
    assert_true(root->oracle_offset >= out->oracle_offset + 256 + 176);
    assert_int_equal(pkb_argument_oracle_bytes(root, 0), 0);
    assert_int_equal(pkb_argument_oracle_bytes(root, 1), 100);
    assert_int_equal(layout->reference_offset, layout->slot_stride);
    assert_int_equal(layout->oracle_offset, 2 * layout->slot_stride);
    assert_true(layout->oracle_offset + root->oracle_offset + 512 <= layout->entry_stride);
    assert_int_equal(layout->pool_bytes, 2 * layout->entry_stride);
    free(layout);
}

static void sizes_that_overflow_are_refused(void **state)
{
    pkb_layout *layout = make();
    (void)state;

    layout->arguments[0].shape[1][0] = (uint64_t)1 << 40;
    layout->arguments[0].shape[1][1] = (uint64_t)1 << 40;
    assert_int_equal(pkb_layout_place(layout, NULL), PKB_ERR_FORMAT);
    layout->arguments[0].shape[1][0] = UINT64_MAX / 2 / layout->arguments[0].shape[1][1];
    assert_int_equal(pkb_layout_place(layout, NULL), PKB_ERR_FORMAT);
    layout->arguments[0].shape[1][0] = (uint64_t)1 << 57; /* fits, three slots of it do not */
    layout->arguments[0].shape[1][1] = 25;
    assert_int_equal(pkb_layout_place(layout, NULL), PKB_ERR_FORMAT);
    layout->arguments[0].shape[1][1] = 0; /* empty, however large the other axis */
    layout->arguments[0].shape[1][0] = UINT64_MAX;
    assert_int_equal(pkb_layout_place(layout, NULL), PKB_OK);
    free(layout);
}

static void impossible_counts_are_refused(void **state)
{
    pkb_layout *layout = make();
    pkb_error err = {0};
    (void)state;

    layout->world = PKB_MAX_RANKS + 1;
    assert_int_equal(pkb_layout_place(layout, &err), PKB_ERR_FORMAT);
    layout->world = 2;
    layout->argument_count = PKB_MAX_ARGUMENTS + 1;
    assert_int_equal(pkb_layout_place(layout, &err), PKB_ERR_FORMAT);
    layout->argument_count = 6;
    layout->slot_count = 0;
    assert_int_equal(pkb_layout_place(layout, &err), PKB_ERR_FORMAT);
    layout->slot_count = 1;
    layout->axis_count = 1;
    layout->axes[0].size = 3;
    assert_int_equal(pkb_layout_place(layout, &err), PKB_ERR_FORMAT);
    layout->axes[0].size = 2;
    assert_int_equal(pkb_layout_place(layout, &err), PKB_OK);
    layout->arguments[0].dtype = (pkb_dtype)99;
    assert_int_equal(pkb_layout_place(layout, &err), PKB_ERR_FORMAT);
    assert_non_null(strstr(err.message, "in"));
    free(layout);
}

static void dtypes_and_roles_are_known_by_name(void **state)
{
    pkb_dtype dtype;
    pkb_role role;
    (void)state;

    for (int i = PKB_BF16; i <= PKB_C64; i++) {
        assert_int_equal(pkb_dtype_parse(pkb_dtype_name((pkb_dtype)i), &dtype, NULL), PKB_OK);
        assert_int_equal(dtype, i);
    }
    assert_int_equal(pkb_dtype_parse("fp32", &dtype, NULL), PKB_ERR_FORMAT);
    assert_int_equal(pkb_role_parse("host", &role, NULL), PKB_OK);
    assert_int_equal(role, PKB_ROLE_HOST);
    assert_int_equal(pkb_role_parse("", &role, NULL), PKB_ERR_FORMAT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(extents_are_the_largest_over_ranks),
        cmocka_unit_test(arguments_are_aligned_and_guarded),
        cmocka_unit_test(symmetric_memory_follows_the_slots),
        cmocka_unit_test(symmetric_memory_may_be_smaller),
        cmocka_unit_test(oracles_have_room_for_alternatives),
        cmocka_unit_test(sizes_that_overflow_are_refused),
        cmocka_unit_test(impossible_counts_are_refused),
        cmocka_unit_test(dtypes_and_roles_are_known_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
