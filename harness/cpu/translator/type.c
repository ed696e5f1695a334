/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of PTX types; see type.h.
 */
#include "harness/cpu/translator/type.h"

#include <string.h>

typedef struct type_row {
    const char *name, *in_c;
    unsigned bits;
    pkb_ptx_class class;
} type_row;

static const type_row rows[PKB_PTX_TYPE_COUNT] = {
    [PKB_PTX_NO_TYPE] = {"", "uint32_t", 32, PKB_PTX_CLASS_NONE},
    [PKB_PTX_PRED] = {"pred", "_Bool", 8, PKB_PTX_CLASS_PRED},
    [PKB_PTX_B8] = {"b8", "uint8_t", 8, PKB_PTX_CLASS_BITS},
    [PKB_PTX_B16] = {"b16", "uint16_t", 16, PKB_PTX_CLASS_BITS},
    [PKB_PTX_B32] = {"b32", "uint32_t", 32, PKB_PTX_CLASS_BITS},
    [PKB_PTX_B64] = {"b64", "uint64_t", 64, PKB_PTX_CLASS_BITS},
    [PKB_PTX_B128] = {"b128", "pkb_u128", 128, PKB_PTX_CLASS_BITS},
    [PKB_PTX_U8] = {"u8", "uint8_t", 8, PKB_PTX_CLASS_UNSIGNED},
    [PKB_PTX_U16] = {"u16", "uint16_t", 16, PKB_PTX_CLASS_UNSIGNED},
    [PKB_PTX_U32] = {"u32", "uint32_t", 32, PKB_PTX_CLASS_UNSIGNED},
    [PKB_PTX_U64] = {"u64", "uint64_t", 64, PKB_PTX_CLASS_UNSIGNED},
    [PKB_PTX_S8] = {"s8", "int8_t", 8, PKB_PTX_CLASS_SIGNED},
    [PKB_PTX_S16] = {"s16", "int16_t", 16, PKB_PTX_CLASS_SIGNED},
    [PKB_PTX_S32] = {"s32", "int32_t", 32, PKB_PTX_CLASS_SIGNED},
    [PKB_PTX_S64] = {"s64", "int64_t", 64, PKB_PTX_CLASS_SIGNED},
    [PKB_PTX_F32] = {"f32", "float", 32, PKB_PTX_CLASS_FLOAT},
    [PKB_PTX_F64] = {"f64", "double", 64, PKB_PTX_CLASS_FLOAT},
    [PKB_PTX_F16] = {"f16", "uint16_t", 16, PKB_PTX_CLASS_HALF},
    [PKB_PTX_BF16] = {"bf16", "uint16_t", 16, PKB_PTX_CLASS_HALF},
    [PKB_PTX_F16X2] = {"f16x2", "uint32_t", 32, PKB_PTX_CLASS_HALF},
    [PKB_PTX_BF16X2] = {"bf16x2", "uint32_t", 32, PKB_PTX_CLASS_HALF},
    [PKB_PTX_TF32] = {"tf32", "uint32_t", 32, PKB_PTX_CLASS_HALF},
    [PKB_PTX_E4M3X2] = {"e4m3x2", "uint16_t", 16, PKB_PTX_CLASS_HALF},
    [PKB_PTX_E5M2X2] = {"e5m2x2", "uint16_t", 16, PKB_PTX_CLASS_HALF},
};

pkb_ptx_type pkb_ptx_type_of(const pkb_ptx_token *token)
{
    if (token->kind != PKB_PTX_DOT || token->length < 3 || token->length > 7)
        return PKB_PTX_NO_TYPE;
    for (int i = PKB_PTX_NO_TYPE + 1; i < PKB_PTX_TYPE_COUNT; i++)
        if (rows[i].name[0] == token->text[1] && strlen(rows[i].name) == token->length - 1 &&
            memcmp(rows[i].name, token->text + 1, token->length - 1) == 0)
            return (pkb_ptx_type)i;
    return PKB_PTX_NO_TYPE;
}

const char *pkb_ptx_type_name(pkb_ptx_type type)
{
    return rows[type].name;
}

const char *pkb_ptx_type_in_c(pkb_ptx_type type)
{
    return rows[type].in_c;
}

pkb_ptx_class pkb_ptx_type_class(pkb_ptx_type type)
{
    return rows[type].class;
}

unsigned pkb_ptx_type_bits(pkb_ptx_type type)
{
    return rows[type].bits;
}

bool pkb_ptx_type_is_signed(pkb_ptx_type type)
{
    return rows[type].class == PKB_PTX_CLASS_SIGNED;
}

bool pkb_ptx_type_is_integer(pkb_ptx_type type)
{
    return rows[type].class == PKB_PTX_CLASS_BITS || rows[type].class == PKB_PTX_CLASS_UNSIGNED ||
           rows[type].class == PKB_PTX_CLASS_SIGNED;
}

bool pkb_ptx_type_is_float(pkb_ptx_type type)
{
    return rows[type].class == PKB_PTX_CLASS_FLOAT || rows[type].class == PKB_PTX_CLASS_HALF;
}

pkb_ptx_type pkb_ptx_type_as_bits(pkb_ptx_type type)
{
    switch (rows[type].bits) {
    case 8:
        return PKB_PTX_B8;
    case 16:
        return PKB_PTX_B16;
    case 64:
        return PKB_PTX_B64;
    case 128:
        return PKB_PTX_B128;
    default:
        return PKB_PTX_B32;
    }
}
