/* SPDX-License-Identifier: Apache-2.0
 *
 * Integer arithmetic; see opcode.h. Sums and products are computed on unsigned types, where C
 * wraps as PTX does; 16-bit operands would be promoted to int and overflow, so they are widened
 * first.
 */
#include <string.h>

#include "harness/cpu/translator/opcode.h"

static pkb_ptx_type as_unsigned(pkb_ptx_type type)
{
    switch (pkb_ptx_type_bits(type)) {
    case 8:
        return PKB_PTX_U8;
    case 16:
        return PKB_PTX_U16;
    case 64:
        return PKB_PTX_U64;
    default:
        return PKB_PTX_U32;
    }
}

static pkb_ptx_type widened(pkb_ptx_type type)
{
    bool is_signed = pkb_ptx_type_is_signed(type);
    if (pkb_ptx_type_bits(type) == 16)
        return is_signed ? PKB_PTX_S32 : PKB_PTX_U32;
    return is_signed ? PKB_PTX_S64 : PKB_PTX_U64;
}

/* add and sub, also of two packed 16-bit integers */
bool pkb_ptx_write_add(pkb_ptx_writer *w, const char *variant)
{
    bool is_sub = strcmp(variant, "sub") == 0;
    if (pkb_ptx_has(w, "u16x2") || pkb_ptx_has(w, "s16x2")) {
        pkb_ptx_set_types(w, PKB_PTX_U32);
        pkb_ptx_assign(w, 0, PKB_PTX_U32, is_sub ? "pkb_sub_u16x2($1,$2)" : "pkb_add_u16x2($1,$2)");
        return true;
    }
    pkb_ptx_type type = pkb_ptx_take_type(w);
    if (pkb_ptx_type_is_float(type))
        return pkb_ptx_write_float(w, type, variant);
    if (pkb_ptx_has(w, "cc"))
        return pkb_ptx_write_add_carry(w, is_sub ? "sub first" : "add first");
    if (!pkb_ptx_type_is_integer(type))
        return false;
    if (pkb_ptx_has(w, "sat")) {
        pkb_ptx_set_types(w, PKB_PTX_S32);
        pkb_ptx_assign(w, 0, PKB_PTX_S32,
                       is_sub ? "pkb_clamp_s32((int64_t)$1-$2)" : "pkb_clamp_s32((int64_t)$1+$2)");
        return type == PKB_PTX_S32;
    }
    pkb_ptx_set_types(w, as_unsigned(type));
    pkb_ptx_assign(w, 0, as_unsigned(type), is_sub ? "$1-$2" : "$1+$2");
    return true;
}

static pkb_ptx_type carry_type(pkb_ptx_writer *w)
{
    /* The type was taken already when this continues add.cc. */
    if (pkb_ptx_has(w, "u64") || pkb_ptx_has(w, "s64") || pkb_ptx_has(w, "b64"))
        return PKB_PTX_U64;
    if (pkb_ptx_has(w, "u32") || pkb_ptx_has(w, "s32") || pkb_ptx_has(w, "b32"))
        return PKB_PTX_U32;
    return PKB_PTX_NO_TYPE;
}

/* CF is the function's carry flag. A chain's first link takes no carry, its last makes none. */
bool pkb_ptx_write_add_carry(pkb_ptx_writer *w, const char *variant)
{
    pkb_ptx_type type = carry_type(w);
    bool makes_carry = pkb_ptx_has(w, "cc");

    if (type == PKB_PTX_NO_TYPE)
        return false;
    pkb_ptx_set_types(w, type);
    pkb_ptx_open_assignment(w, pkb_ptx_get(w, 0), type);
    pkb_ptx_printf(w, "pkb_%.3s_carry_%s(", variant, pkb_ptx_type_name(type));
    pkb_ptx_put(w, "$1,$2,");
    pkb_ptx_printf(w, "%s,%s", strstr(variant, "first") != NULL ? "0" : "CF",
                   makes_carry ? "&CF" : "0");
    pkb_buf_append_string(&w->body, ")");
    pkb_ptx_close_assignment(w);
    return true;
}

/* The product of $1 and $2; false if the mode is missing. Sets *out to the result's type. */
static bool put_product(pkb_ptx_writer *w, pkb_ptx_type type, pkb_ptx_type *out)
{
    const char *name = pkb_ptx_type_name(type);
    bool is_signed = pkb_ptx_type_is_signed(type);

    *out = as_unsigned(type);
    if (pkb_ptx_has(w, "wide")) {
        *out = widened(type);
        pkb_ptx_printf(w, "(%s)", pkb_ptx_type_in_c(*out));
        pkb_ptx_put(w, "($1)*$2");
        return pkb_ptx_type_bits(type) <= 32;
    }
    if (pkb_ptx_has(w, "hi")) {
        pkb_ptx_printf(w, "(%s)pkb_mul_hi_%s(", pkb_ptx_type_in_c(*out), name);
        pkb_ptx_put(w, "$1,$2)");
        return pkb_ptx_type_bits(type) >= 16 && (is_signed || name[0] == 'u');
    }
    if (!pkb_ptx_has(w, "lo"))
        return false;
    w->in.types[1] = w->in.types[2] = *out;
    pkb_ptx_put(w, pkb_ptx_type_bits(type) == 16 ? "(uint32_t)($1)*$2" : "($1)*$2");
    return true;
}

static pkb_ptx_type product_type(pkb_ptx_writer *w, pkb_ptx_type type)
{
    if (pkb_ptx_has(w, "wide"))
        return widened(type);
    return as_unsigned(type);
}

bool pkb_ptx_write_mul(pkb_ptx_writer *w, const char *variant)
{
    pkb_ptx_type type = pkb_ptx_take_type(w), result;

    (void)variant;
    if (pkb_ptx_type_is_float(type))
        return pkb_ptx_write_float(w, type, "mul");
    if (!pkb_ptx_type_is_integer(type))
        return false;
    pkb_ptx_set_types(w, type);
    pkb_ptx_open_assignment(w, pkb_ptx_get(w, 0), product_type(w, type));
    bool is_known = put_product(w, type, &result);
    pkb_ptx_close_assignment(w);
    return is_known;
}

bool pkb_ptx_write_mad(pkb_ptx_writer *w, const char *variant)
{
    pkb_ptx_type type = pkb_ptx_take_type(w), result;

    (void)variant;
    if (pkb_ptx_type_is_float(type))
        return pkb_ptx_write_float(w, type, "fma");
    if (!pkb_ptx_type_is_integer(type))
        return false;
    pkb_ptx_set_types(w, type);
    w->in.types[3] = product_type(w, type);
    if (pkb_ptx_has(w, "cc"))
        return pkb_ptx_write_mad_carry(w, "first");
    if (pkb_ptx_has(w, "sat")) {
        pkb_ptx_assign(w, 0, PKB_PTX_S32,
                       "pkb_clamp_s32((int64_t)pkb_mul_hi_s32($1,$2)+(int32_t)$3)");
        return pkb_ptx_has(w, "hi") && type == PKB_PTX_S32;
    }
    pkb_ptx_open_assignment(w, pkb_ptx_get(w, 0), product_type(w, type));
    bool is_known = put_product(w, type, &result);
    pkb_ptx_put(w, "+$3");
    pkb_ptx_close_assignment(w);
    return is_known;
}

bool pkb_ptx_write_mad_carry(pkb_ptx_writer *w, const char *variant)
{
    bool is_first = strcmp(variant, "first") == 0, makes_carry = pkb_ptx_has(w, "cc");
    pkb_ptx_type type = PKB_PTX_NO_TYPE, result;

    for (uint32_t i = 0; i < w->in.modifier_count && type == PKB_PTX_NO_TYPE; i++)
        type = pkb_ptx_type_of(w->in.modifiers[i]);
    if (!is_first)
        pkb_ptx_take_type(w);
    if (pkb_ptx_type_bits(type) < 32 || !pkb_ptx_type_is_integer(type))
        return false;
    pkb_ptx_set_types(w, type);
    w->in.types[3] = as_unsigned(type);
    pkb_ptx_open_assignment(w, pkb_ptx_get(w, 0), as_unsigned(type));
    pkb_ptx_printf(w, "pkb_add_carry_u%u(", pkb_ptx_type_bits(type));
    bool is_known = put_product(w, type, &result);
    pkb_ptx_put(w, ",$3,");
    pkb_ptx_printf(w, "%s,%s)", is_first ? "0" : "CF", makes_carry ? "&CF" : "0");
    pkb_ptx_close_assignment(w);
    return is_known;
}

/* mul24 and mad24; `variant` is the addend */
bool pkb_ptx_write_mul24(pkb_ptx_writer *w, const char *variant)
{
    pkb_ptx_type type = pkb_ptx_take_type(w);
    bool is_high = pkb_ptx_has(w, "hi");

    if ((!is_high && !pkb_ptx_has(w, "lo")) || (type != PKB_PTX_U32 && type != PKB_PTX_S32))
        return false;
    pkb_ptx_set_types(w, PKB_PTX_U32);
    pkb_ptx_open_assignment(w, pkb_ptx_get(w, 0), PKB_PTX_U32);
    pkb_ptx_printf(w, "(uint32_t)(pkb_mul24_%s(", pkb_ptx_type_name(type));
    pkb_ptx_put(w, is_high ? "$1,$2)>>16)" : "$1,$2))");
    pkb_ptx_put(w, variant);
    pkb_ptx_close_assignment(w);
    return true;
}

bool pkb_ptx_write_divide(pkb_ptx_writer *w, const char *variant)
{
    pkb_ptx_type type = pkb_ptx_take_type(w);

    if (pkb_ptx_type_is_float(type))
        return strcmp(variant, "div") == 0 && pkb_ptx_write_float(w, type, variant);
    pkb_ptx_set_types(w, type);
    pkb_ptx_open_assignment(w, pkb_ptx_get(w, 0), type);
    pkb_ptx_printf(w, "pkb_%s_%s(", variant, pkb_ptx_type_name(type));
    pkb_ptx_put(w, "$1,$2)");
    pkb_ptx_close_assignment(w);
    return pkb_ptx_type_is_integer(type) && pkb_ptx_type_bits(type) >= 16 &&
           pkb_ptx_type_class(type) != PKB_PTX_CLASS_BITS;
}

static bool write_packed_min_max(pkb_ptx_writer *w, const char *variant)
{
    bool is_signed = pkb_ptx_has(w, "s16x2");
    pkb_ptx_set_types(w, PKB_PTX_U32);
    pkb_ptx_open_assignment(w, pkb_ptx_get(w, 0), PKB_PTX_U32);
    if (pkb_ptx_has(w, "relu"))
        pkb_buf_append_string(&w->body, "pkb_max_s16x2(0,");
    else
        pkb_buf_append_string(&w->body, "(");
    pkb_ptx_printf(w, "pkb_%s_%s16x2(", variant, is_signed ? "s" : "u");
    pkb_ptx_put(w, "$1,$2))");
    pkb_ptx_close_assignment(w);
    return true;
}

bool pkb_ptx_write_min_max(pkb_ptx_writer *w, const char *variant)
{
    if (pkb_ptx_has(w, "u16x2") || pkb_ptx_has(w, "s16x2"))
        return write_packed_min_max(w, variant);
    pkb_ptx_type type = pkb_ptx_take_type(w);
    if (pkb_ptx_type_is_float(type))
        return pkb_ptx_write_float(w, type, variant);
    bool is_relu = pkb_ptx_has(w, "relu");
    pkb_ptx_set_types(w, type);
    pkb_ptx_open_assignment(w, pkb_ptx_get(w, 0), type);
    if (is_relu)
        pkb_buf_append_string(&w->body, "pkb_max_s32(0,");
    pkb_ptx_printf(w, "pkb_%s_%s(", variant, pkb_ptx_type_name(type));
    pkb_ptx_put(w, is_relu ? "$1,$2))" : "$1,$2)");
    pkb_ptx_close_assignment(w);
    return pkb_ptx_type_is_integer(type) && pkb_ptx_type_bits(type) >= 16 &&
           pkb_ptx_type_class(type) != PKB_PTX_CLASS_BITS && (!is_relu || type == PKB_PTX_S32);
}

bool pkb_ptx_write_abs_neg(pkb_ptx_writer *w, const char *variant)
{
    pkb_ptx_type type = pkb_ptx_take_type(w);

    if (pkb_ptx_type_is_float(type))
        return pkb_ptx_write_float(w, type, variant);
    bool is_neg = strcmp(variant, "neg") == 0;
    pkb_ptx_set_types(w, is_neg ? as_unsigned(type) : type);
    pkb_ptx_assign(w, 0, type, is_neg ? "0u-$1" : "$1<0?0u-$1:$1");
    return pkb_ptx_type_is_signed(type);
}

bool pkb_ptx_write_sad(pkb_ptx_writer *w, const char *variant)
{
    pkb_ptx_type type = pkb_ptx_take_type(w);

    (void)variant;
    pkb_ptx_set_types(w, type);
    w->in.types[3] = as_unsigned(type);
    pkb_ptx_open_assignment(w, pkb_ptx_get(w, 0), as_unsigned(type));
    const char *in_c = pkb_ptx_type_in_c(as_unsigned(type));
    pkb_ptx_put(w, "$3+($1<$2?");
    pkb_ptx_printf(w, "(%s)", in_c);
    pkb_ptx_put(w, "($2)-");
    pkb_ptx_printf(w, "(%s)", in_c);
    pkb_ptx_put(w, "($1):");
    pkb_ptx_printf(w, "(%s)", in_c);
    pkb_ptx_put(w, "($1)-");
    pkb_ptx_printf(w, "(%s)", in_c);
    pkb_ptx_put(w, "($2))");
    pkb_ptx_close_assignment(w);
    return pkb_ptx_type_is_integer(type);
}

/* dp4a and dp2a */
bool pkb_ptx_write_dot(pkb_ptx_writer *w, const char *variant)
{
    pkb_ptx_type a = pkb_ptx_take_type(w), b = pkb_ptx_take_type(w);
    bool is_high = pkb_ptx_has(w, "hi"), is_two = strcmp(variant, "dp2a") == 0;

    if (is_two && !is_high && !pkb_ptx_has(w, "lo"))
        return false;
    pkb_ptx_set_types(w, PKB_PTX_U32);
    pkb_ptx_open_assignment(w, pkb_ptx_get(w, 0), PKB_PTX_U32);
    pkb_ptx_printf(w, "pkb_%s(", variant);
    pkb_ptx_put(w, "$1,$2,$3");
    pkb_ptx_printf(w, ",%d,%d", pkb_ptx_type_is_signed(a), pkb_ptx_type_is_signed(b));
    pkb_buf_append_string(&w->body, !is_two ? ")" : is_high ? ",16)" : ",0)");
    pkb_ptx_close_assignment(w);
    return pkb_ptx_type_bits(a) == 32 && pkb_ptx_type_bits(b) == 32;
}

/* vabsdiff4, the one packed instruction that nvcc still writes: four distances, or with .add
 * their sum and the third operand */
bool pkb_ptx_write_byte_distance(pkb_ptx_writer *w, const char *variant)
{
    pkb_ptx_type result = pkb_ptx_take_type(w);
    pkb_ptx_type a = pkb_ptx_take_type(w), b = pkb_ptx_take_type(w);
    bool is_sum = pkb_ptx_has(w, "add");

    (void)variant;
    pkb_ptx_set_types(w, PKB_PTX_U32);
    pkb_ptx_open_assignment(w, pkb_ptx_get(w, 0), PKB_PTX_U32);
    pkb_ptx_printf(w, "pkb_byte_distance%s(", is_sum ? "_sum" : "s");
    pkb_ptx_put(w, is_sum ? "$1,$2,$3" : "$1,$2");
    pkb_ptx_printf(w, ",%d)", pkb_ptx_type_is_signed(a));
    pkb_ptx_close_assignment(w);
    return a == b && result == PKB_PTX_U32 && w->in.operand_count == 4;
}
