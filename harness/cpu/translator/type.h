/* SPDX-License-Identifier: Apache-2.0
 *
 * PTX's fundamental types and how the emitted C holds a value of each.
 */
#ifndef PKB_PTX_TYPE_H
#define PKB_PTX_TYPE_H

#include <stdbool.h>

#include "harness/cpu/translator/token.h"

typedef enum pkb_ptx_type {
    PKB_PTX_NO_TYPE,
    PKB_PTX_PRED,
    PKB_PTX_B8,
    PKB_PTX_B16,
    PKB_PTX_B32,
    PKB_PTX_B64,
    PKB_PTX_B128,
    PKB_PTX_U8,
    PKB_PTX_U16,
    PKB_PTX_U32,
    PKB_PTX_U64,
    PKB_PTX_S8,
    PKB_PTX_S16,
    PKB_PTX_S32,
    PKB_PTX_S64,
    PKB_PTX_F32,
    PKB_PTX_F64,
    PKB_PTX_F16,   /* held as uint16_t */
    PKB_PTX_BF16,  /* held as uint16_t */
    PKB_PTX_F16X2, /* held as uint32_t, first element in the low half */
    PKB_PTX_BF16X2,
    PKB_PTX_TF32,
    PKB_PTX_E4M3X2, /* held as uint16_t */
    PKB_PTX_E5M2X2,
    PKB_PTX_TYPE_COUNT
} pkb_ptx_type;

typedef enum pkb_ptx_class {
    PKB_PTX_CLASS_NONE,
    PKB_PTX_CLASS_PRED,
    PKB_PTX_CLASS_BITS,
    PKB_PTX_CLASS_UNSIGNED,
    PKB_PTX_CLASS_SIGNED,
    PKB_PTX_CLASS_FLOAT, /* f32 and f64 */
    PKB_PTX_CLASS_HALF   /* 16-bit and packed floats, held as bits */
} pkb_ptx_class;

/* The type that a token such as ".u32" names, or PKB_PTX_NO_TYPE. */
pkb_ptx_type pkb_ptx_type_of(const pkb_ptx_token *token);

const char *pkb_ptx_type_name(pkb_ptx_type type); /* "u32" */
const char *pkb_ptx_type_in_c(pkb_ptx_type type); /* "uint32_t" */
pkb_ptx_class pkb_ptx_type_class(pkb_ptx_type type);
unsigned pkb_ptx_type_bits(pkb_ptx_type type); /* 8 for a predicate */

bool pkb_ptx_type_is_signed(pkb_ptx_type type);
bool pkb_ptx_type_is_integer(pkb_ptx_type type); /* bits, unsigned or signed */
bool pkb_ptx_type_is_float(pkb_ptx_type type);   /* any float, also halves */

/* The bits type of the same width. */
pkb_ptx_type pkb_ptx_type_as_bits(pkb_ptx_type type);

#endif
