/* SPDX-License-Identifier: Apache-2.0
 *
 * Where everything lies in a world's memory: a pure function of a resolved problem size. Judge,
 * cell and runner work from one layout, so that an argument has the same offset on every rank.
 *
 * A *slot* is one full set of a problem's argument buffers. Every argument is surrounded by guard
 * zones; its extent is the largest over ranks, what a rank does not use is guard as well.
 * Rank q's arena begins at base + q * stride in a cell: first its slots, then its symmetric memory.
 */
#ifndef PKB_HARNESS_LAYOUT_H
#define PKB_HARNESS_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum {
    PKB_MAX_ARGUMENTS = 48,
    PKB_MAX_DIMS = 48,
    PKB_MAX_RANKS = 64,
    PKB_MAX_SLOTS = 512,
    PKB_MAX_AXES = 4,
    PKB_MAX_SHAPE = 6,
    PKB_NAME_BYTES = 48,
    PKB_ARGUMENT_ALIGN = 256,
    PKB_GUARD_BYTES = 4096
};

#define PKB_SYMMETRIC_LIMIT_BYTES ((uint64_t)8 << 30)

typedef enum pkb_role {
    PKB_ROLE_IN,
    PKB_ROLE_OUT,
    PKB_ROLE_INOUT,
    PKB_ROLE_SCALAR,
    PKB_ROLE_HOST
} pkb_role;

typedef enum pkb_dtype {
    PKB_BF16,
    PKB_F16,
    PKB_F32,
    PKB_F64,
    PKB_I8,
    PKB_U8,
    PKB_I32,
    PKB_I64,
    PKB_BOOL,
    PKB_E4M3,
    PKB_E5M2,
    PKB_C64
} pkb_dtype;

/* How an output is compared in one input family. */
typedef enum pkb_check {
    PKB_CHECK_NONE,
    PKB_CHECK_EXACT,
    PKB_CHECK_FLOAT,
    PKB_CHECK_QUANTIZED
} pkb_check;

typedef struct pkb_argument {
    char name[PKB_NAME_BYTES];
    pkb_role role;
    pkb_dtype dtype;
    uint32_t shape_count;    /* number of axes; 0 for scalars */
    uint32_t count_argument; /* index + 1 of the i64 output that counts meant rows; 0 = none */
    uint64_t shape[PKB_MAX_RANKS][PKB_MAX_SHAPE]; /* per rank; maxima where a dim is drawn */
    uint64_t bytes[PKB_MAX_RANKS];                /* used on each rank; 0 where absent or empty */
    bool present[PKB_MAX_RANKS];
    uint64_t offset;        /* in a slot; tensors (in, out, inout) and host arrays */
    uint64_t extent_bytes;  /* largest `bytes` over ranks */
    uint64_t oracle_offset; /* in an entry's oracle area; outputs only; NAME_alt follows it */
} pkb_argument;

typedef struct pkb_axis { /* one grid axis; rank = row-major over axes */
    char name[PKB_NAME_BYTES];
    uint32_t size;
} pkb_axis;

typedef struct pkb_layout {
    uint32_t rank, world;
    uint32_t argument_count, dim_count, axis_count;
    pkb_argument arguments[PKB_MAX_ARGUMENTS];
    char dim_names[PKB_MAX_DIMS][PKB_NAME_BYTES];
    int64_t dims[PKB_MAX_RANKS][PKB_MAX_DIMS]; /* per rank; maxima where drawn */
    bool dim_drawn[PKB_MAX_DIMS];
    pkb_axis axes[PKB_MAX_AXES];

    uint32_t slot_count;
    uint64_t slot_stride;     /* bytes from slot to slot; page-aligned */
    uint64_t slots_bytes;     /* slot_count * slot_stride */
    uint64_t symmetric_bytes; /* at most PKB_SYMMETRIC_LIMIT_BYTES */
    uint64_t rank_stride;     /* from rank to rank in a cell's address range */

    /* Pool (judge and runner only): entry = [inputs image][reference image][oracle area], where an
     * image has the layout of a slot. */
    uint32_t entry_count;
    uint64_t entry_stride, reference_offset, oracle_offset, pool_bytes;
} pkb_layout;

size_t pkb_dtype_bytes(pkb_dtype dtype);
/* Bytes of one oracle element: f64 for real floats, 2 x f64 for c64, the dtype itself otherwise. */
size_t pkb_dtype_oracle_bytes(pkb_dtype dtype);
/* Whether an oracle holds it as float64: bf16, f16, f32, f64 and c64. fp8 counts as codes. */
bool pkb_dtype_is_float(pkb_dtype dtype);
const char *pkb_dtype_name(pkb_dtype dtype);
pkb_code pkb_dtype_parse(const char *name, pkb_dtype *out, pkb_error *err);
pkb_code pkb_role_parse(const char *name, pkb_role *out, pkb_error *err);
pkb_code pkb_check_parse(const char *name, pkb_check *out, pkb_error *err);

/* Bytes of one rank's oracle of an output, and where its NAME_alt begins after oracle_offset. */
uint64_t pkb_argument_oracle_bytes(const pkb_argument *argument, uint32_t rank);
uint64_t pkb_argument_alt_offset(const pkb_argument *argument, uint32_t rank);

/* Fills offsets, strides and sizes from world, arguments (name, role, dtype, shape, present),
 * slot_count, entry_count and symmetric_bytes (0 = the limit). PKB_ERR_FORMAT on overflow or too
 * many arguments. */
pkb_code pkb_layout_place(pkb_layout *layout, pkb_error *err);

/* Where a rank's symmetric memory begins in its arena. */
static inline uint64_t pkb_layout_symmetric_offset(const pkb_layout *layout)
{
    return layout->rank_stride - layout->symmetric_bytes;
}

static inline bool pkb_role_is_output(pkb_role role)
{
    return role == PKB_ROLE_OUT || role == PKB_ROLE_INOUT;
}
static inline bool pkb_role_is_input(pkb_role role)
{
    return role == PKB_ROLE_IN || role == PKB_ROLE_INOUT;
}
static inline bool pkb_role_is_tensor(pkb_role role)
{
    return role == PKB_ROLE_IN || role == PKB_ROLE_OUT || role == PKB_ROLE_INOUT;
}

#endif
