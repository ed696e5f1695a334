/* SPDX-License-Identifier: Apache-2.0
 *
 * Places arguments, slots and pool entries; see layout.h.
 */
#include "harness/memory/layout.h"

#include <string.h>

enum { SLOT_ALIGN = 4096, ARENA_ALIGN = 2 << 20 };

typedef struct dtype_facts {
    const char *name;
    uint8_t bytes, oracle_bytes;
    bool is_float;
} dtype_facts;

static const dtype_facts dtypes[] = {
    [PKB_BF16] = {"bf16", 2, 8, true},  [PKB_F16] = {"f16", 2, 8, true},
    [PKB_F32] = {"f32", 4, 8, true},    [PKB_F64] = {"f64", 8, 8, true},
    [PKB_I8] = {"i8", 1, 1, false},     [PKB_U8] = {"u8", 1, 1, false},
    [PKB_I32] = {"i32", 4, 4, false},   [PKB_I64] = {"i64", 8, 8, false},
    [PKB_BOOL] = {"bool", 1, 1, false}, [PKB_E4M3] = {"e4m3", 1, 1, false},
    [PKB_E5M2] = {"e5m2", 1, 1, false}, [PKB_C64] = {"c64", 8, 16, true},
};
enum { DTYPE_COUNT = sizeof dtypes / sizeof dtypes[0] };

static const char *const roles[] = {
    [PKB_ROLE_IN] = "in",         [PKB_ROLE_OUT] = "out",   [PKB_ROLE_INOUT] = "inout",
    [PKB_ROLE_SCALAR] = "scalar", [PKB_ROLE_HOST] = "host",
};

size_t pkb_dtype_bytes(pkb_dtype dtype)
{
    return dtypes[dtype].bytes;
}

size_t pkb_dtype_oracle_bytes(pkb_dtype dtype)
{
    return dtypes[dtype].oracle_bytes;
}

bool pkb_dtype_is_float(pkb_dtype dtype)
{
    return dtypes[dtype].is_float;
}

const char *pkb_dtype_name(pkb_dtype dtype)
{
    return (unsigned)dtype < DTYPE_COUNT ? dtypes[dtype].name : "unknown";
}

pkb_code pkb_dtype_parse(const char *name, pkb_dtype *out, pkb_error *err)
{
    for (int i = 0; i < DTYPE_COUNT; i++) {
        if (strcmp(name, dtypes[i].name) == 0) {
            *out = (pkb_dtype)i;
            return PKB_OK;
        }
    }
    return pkb_error_set(err, PKB_ERR_FORMAT, 0, "unknown dtype \"%s\"", name);
}

pkb_code pkb_role_parse(const char *name, pkb_role *out, pkb_error *err)
{
    for (size_t i = 0; i < sizeof roles / sizeof roles[0]; i++) {
        if (strcmp(name, roles[i]) == 0) {
            *out = (pkb_role)i;
            return PKB_OK;
        }
    }
    return pkb_error_set(err, PKB_ERR_FORMAT, 0, "unknown role \"%s\"", name);
}

pkb_code pkb_check_parse(const char *name, pkb_check *out, pkb_error *err)
{
    static const char *const names[] = {[PKB_CHECK_NONE] = "none",
                                        [PKB_CHECK_EXACT] = "exact",
                                        [PKB_CHECK_FLOAT] = "float",
                                        [PKB_CHECK_QUANTIZED] = "quantized"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(name, names[i]) == 0) {
            *out = (pkb_check)i;
            return PKB_OK;
        }
    }
    return pkb_error_set(err, PKB_ERR_FORMAT, 0, "'%s' is no check", name);
}

/* ---- arithmetic that refuses to wrap ---- */

/* *cursor += bytes, then up to a multiple of `align` (a power of two). */
static bool advance(uint64_t *cursor, uint64_t bytes, uint64_t align)
{
    uint64_t end;
    if (__builtin_add_overflow(*cursor, bytes, &end) ||
        __builtin_add_overflow(end, align - 1, &end))
        return false;
    *cursor = end & ~(align - 1);
    return true;
}

static bool shape_bytes(const pkb_argument *argument, uint32_t rank, uint64_t element_bytes,
                        uint64_t *out)
{
    uint64_t bytes = element_bytes;
    bool is_empty = false;
    for (uint32_t axis = 0; axis < argument->shape_count; axis++)
        is_empty |= argument->shape[rank][axis] == 0;
    for (uint32_t axis = 0; axis < argument->shape_count && !is_empty; axis++) {
        if (__builtin_mul_overflow(bytes, argument->shape[rank][axis], &bytes))
            return false;
    }
    *out = is_empty ? 0 : bytes;
    return true;
}

static uint64_t align_argument(uint64_t bytes)
{
    return (bytes + PKB_ARGUMENT_ALIGN - 1) & ~(uint64_t)(PKB_ARGUMENT_ALIGN - 1);
}

uint64_t pkb_argument_oracle_bytes(const pkb_argument *argument, uint32_t rank)
{
    return argument->bytes[rank] / dtypes[argument->dtype].bytes *
           dtypes[argument->dtype].oracle_bytes;
}

uint64_t pkb_argument_alt_offset(const pkb_argument *argument, uint32_t rank)
{
    return align_argument(pkb_argument_oracle_bytes(argument, rank));
}

/* ---- the parts of a layout ---- */

static pkb_code check_counts(const pkb_layout *layout, pkb_error *err)
{
    if (layout->world < 1 || layout->world > PKB_MAX_RANKS || layout->rank >= layout->world)
        return pkb_error_set(err, PKB_ERR_FORMAT, 0, "rank %u of %u: a world has 1 to %d ranks",
                             layout->rank, layout->world, PKB_MAX_RANKS);
    if (layout->argument_count > PKB_MAX_ARGUMENTS || layout->dim_count > PKB_MAX_DIMS ||
        layout->axis_count > PKB_MAX_AXES)
        return pkb_error_set(err, PKB_ERR_FORMAT, 0,
                             "%u arguments, %u dims, %u grid axes: at most %d, %d and %d",
                             layout->argument_count, layout->dim_count, layout->axis_count,
                             PKB_MAX_ARGUMENTS, PKB_MAX_DIMS, PKB_MAX_AXES);
    if (layout->slot_count < 1 || layout->slot_count > PKB_MAX_SLOTS)
        return pkb_error_set(err, PKB_ERR_FORMAT, 0, "%u slots: 1 to %d are possible",
                             layout->slot_count, PKB_MAX_SLOTS);

    uint64_t grid_ranks = 1;
    for (uint32_t i = 0; i < layout->axis_count; i++)
        grid_ranks = layout->axes[i].size > PKB_MAX_RANKS ? 0 : grid_ranks * layout->axes[i].size;
    if (layout->axis_count > 0 && grid_ranks != layout->world)
        return pkb_error_set(err, PKB_ERR_FORMAT, 0, "the grid does not have %u ranks",
                             layout->world);
    return PKB_OK;
}

static pkb_code check_argument(const pkb_argument *argument, uint32_t argument_count,
                               pkb_error *err)
{
    if (memchr(argument->name, '\0', sizeof argument->name) == NULL)
        return pkb_error_set(err, PKB_ERR_FORMAT, 0, "an argument's name has no end");
    if ((unsigned)argument->dtype >= DTYPE_COUNT || (unsigned)argument->role > PKB_ROLE_HOST ||
        argument->shape_count > PKB_MAX_SHAPE || argument->count_argument > argument_count)
        return pkb_error_set(err, PKB_ERR_FORMAT, 0,
                             "argument %s has an impossible role, dtype, rank or count",
                             argument->name);
    return PKB_OK;
}

static bool measure_argument(pkb_argument *argument, uint32_t world)
{
    argument->extent_bytes = 0;
    for (uint32_t rank = 0; rank < world; rank++) {
        uint64_t bytes;
        if (!shape_bytes(argument, rank, dtypes[argument->dtype].bytes, &bytes))
            return false;
        argument->bytes[rank] = argument->present[rank] ? bytes : 0;
        if (argument->bytes[rank] > argument->extent_bytes)
            argument->extent_bytes = argument->bytes[rank];
    }
    return true;
}

/* Guard, argument, guard, argument, ..., guard. */
static pkb_code place_slot(pkb_layout *layout, pkb_error *err)
{
    uint64_t cursor = PKB_GUARD_BYTES;

    for (uint32_t i = 0; i < layout->argument_count; i++) {
        pkb_argument *argument = &layout->arguments[i];
        pkb_code rc = check_argument(argument, layout->argument_count, err);
        if (rc != PKB_OK)
            return rc;
        if (argument->role == PKB_ROLE_SCALAR)
            continue;
        argument->offset = cursor;
        if (!measure_argument(argument, layout->world) ||
            !advance(&cursor, argument->extent_bytes, PKB_ARGUMENT_ALIGN) ||
            !advance(&cursor, PKB_GUARD_BYTES, PKB_ARGUMENT_ALIGN))
            return pkb_error_set(err, PKB_ERR_FORMAT, 0, "argument %s is too large",
                                 argument->name);
    }

    if (!advance(&cursor, 0, SLOT_ALIGN))
        return pkb_error_set(err, PKB_ERR_FORMAT, 0, "the arguments are too large together");
    layout->slot_stride = cursor;
    return PKB_OK;
}

static pkb_code place_arena(pkb_layout *layout, pkb_error *err)
{
    uint64_t all_ranks;

    if (layout->symmetric_bytes == 0)
        layout->symmetric_bytes = PKB_SYMMETRIC_LIMIT_BYTES;
    if (__builtin_mul_overflow(layout->slot_stride, layout->slot_count, &layout->slots_bytes))
        goto too_large;
    layout->rank_stride = layout->slots_bytes;
    if (!advance(&layout->rank_stride, 0, ARENA_ALIGN) ||
        !advance(&layout->rank_stride, layout->symmetric_bytes, ARENA_ALIGN) ||
        __builtin_mul_overflow(layout->rank_stride, layout->world, &all_ranks))
        goto too_large;
    return PKB_OK;
too_large:
    return pkb_error_set(err, PKB_ERR_FORMAT, 0, "%u slots of %llu bytes are too large",
                         layout->slot_count, (unsigned long long)layout->slot_stride);
}

/* Inputs image, reference image, oracle area. An oracle area keeps room for NAME_alt after every
 * output: which outputs have one is a matter of checks, and untouched pages cost nothing. */
static pkb_code place_pool(pkb_layout *layout, pkb_error *err)
{
    uint64_t cursor = 0, oracle_bytes = 0;

    for (uint32_t i = 0; i < layout->argument_count; i++) {
        pkb_argument *argument = &layout->arguments[i];
        if (!pkb_role_is_output(argument->role))
            continue;
        uint64_t elements = argument->extent_bytes / dtypes[argument->dtype].bytes, bytes;
        argument->oracle_offset = oracle_bytes;
        if (__builtin_mul_overflow(elements, dtypes[argument->dtype].oracle_bytes, &bytes) ||
            !advance(&oracle_bytes, bytes, PKB_ARGUMENT_ALIGN) ||
            !advance(&oracle_bytes, bytes, PKB_ARGUMENT_ALIGN))
            goto too_large;
    }

    layout->reference_offset = layout->slot_stride;
    if (__builtin_mul_overflow(layout->slot_stride, 2, &cursor))
        goto too_large;
    layout->oracle_offset = cursor;
    if (!advance(&cursor, oracle_bytes, SLOT_ALIGN))
        goto too_large;
    layout->entry_stride = cursor;
    if (__builtin_mul_overflow(cursor, layout->entry_count, &layout->pool_bytes))
        goto too_large;
    return PKB_OK;
too_large:
    return pkb_error_set(err, PKB_ERR_FORMAT, 0, "a pool of %u entries is too large",
                         layout->entry_count);
}

pkb_code pkb_layout_place(pkb_layout *layout, pkb_error *err)
{
    pkb_code rc = check_counts(layout, err);
    if (rc == PKB_OK)
        rc = place_slot(layout, err);
    if (rc == PKB_OK)
        rc = place_arena(layout, err);
    if (rc == PKB_OK)
        rc = place_pool(layout, err);
    return rc;
}
