/* SPDX-License-Identifier: Apache-2.0
 *
 * cvt; see opcode.h. Functions of device/number.h are named pkb_<from>_to_<to>_<rounding>, where
 * the source is widened to f32, f64, s64 or u64 first (exactly).
 */
#include <string.h>

#include "harness/cpu/translator/opcode.h"

/* "rn", "rz", "rm" or "rp"; "" if none is given. */
static const char *take_rounding(pkb_ptx_writer *w)
{
    static const char *const names[] = {"rn", "rz", "rm", "rp"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (pkb_ptx_has(w, names[i]))
            return names[i];
    return "";
}

/* Rounding to an integral value: "rni", "rzi", "rmi" or "rpi"; NULL if none is given. */
static const char *take_integer_rounding(pkb_ptx_writer *w)
{
    static const char *const names[] = {"rni", "rzi", "rmi", "rpi"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (pkb_ptx_has(w, names[i]))
            return names[i];
    return NULL;
}

static bool is_half(pkb_ptx_type type)
{
    return type == PKB_PTX_F16 || type == PKB_PTX_BF16;
}

/* Operand 1 or 2 as a float or double, exactly. */
static void put_widened(pkb_ptx_writer *w, pkb_ptx_type type, const char *operand)
{
    if (is_half(type))
        pkb_ptx_printf(w, "pkb_%s_to_f32(", pkb_ptx_type_name(type));
    else
        pkb_buf_append_string(&w->body, "(");
    pkb_ptx_put(w, operand);
    pkb_buf_append_string(&w->body, ")");
}

static const char *widened_name(pkb_ptx_type type)
{
    if (pkb_ptx_type_is_integer(type))
        return pkb_ptx_type_is_signed(type) ? "s64" : "u64";
    return type == PKB_PTX_F64 ? "f64" : "f32";
}

static void integer_to_integer(pkb_ptx_writer *w, pkb_ptx_type to, pkb_ptx_type from)
{
    pkb_ptx_open_assignment(w, pkb_ptx_get(w, 0), to);
    if (pkb_ptx_has(w, "sat"))
        pkb_ptx_printf(w, "pkb_%s_sat_%s(", widened_name(from), pkb_ptx_type_name(to));
    else
        pkb_ptx_printf(w, "(%s)(", pkb_ptx_type_in_c(to));
    pkb_ptx_put(w, "$1)");
    pkb_ptx_close_assignment(w);
}

/* Out of range saturates; what NaN gives depends on both types. */
static bool float_to_integer(pkb_ptx_writer *w, pkb_ptx_type to, pkb_ptx_type from)
{
    const char *rounding = take_integer_rounding(w);
    unsigned bits = pkb_ptx_type_bits(to);
    unsigned long long not_a_number =
        from != PKB_PTX_F64 && bits <= 32 ? 0 : UINT64_C(1) << (bits - 1);

    pkb_ptx_has(w, "sat");
    if (rounding == NULL)
        return false;
    pkb_ptx_open_assignment(w, pkb_ptx_get(w, 0), to);
    pkb_ptx_printf(w, "pkb_f64_to_%s(pkb_%s_f64(", pkb_ptx_type_name(to), rounding);
    put_widened(w, from, "$1");
    pkb_ptx_printf(w, "),0x%llxull)", not_a_number);
    pkb_ptx_close_assignment(w);
    return true;
}

/* Opens what .sat, .relu and .ftz do to the result; returns how many parentheses. */
static int open_result(pkb_ptx_writer *w, pkb_ptx_type to)
{
    int depth = 0;
    pkb_ptx_open_assignment(w, pkb_ptx_get(w, 0), to);
    if (pkb_ptx_has(w, "sat")) {
        pkb_ptx_printf(w, "pkb_sat_%s(", pkb_ptx_type_name(to));
        depth++;
    }
    if (pkb_ptx_has(w, "relu")) {
        pkb_ptx_printf(w, "pkb_relu_%s(", pkb_ptx_type_name(to));
        depth++;
    }
    if (pkb_ptx_has(w, "ftz") && to == PKB_PTX_F32) {
        pkb_buf_append_string(&w->body, "pkb_ftz_f32(");
        depth++;
    }
    return depth;
}

static void close_result(pkb_ptx_writer *w, int depth)
{
    for (; depth > 0; depth--)
        pkb_buf_append_string(&w->body, ")");
    pkb_ptx_close_assignment(w);
}

static void put_narrowing(pkb_ptx_writer *w, pkb_ptx_type to, pkb_ptx_type from,
                          const char *rounding, const char *operand)
{
    bool is_plain = strcmp(rounding, "rn") == 0 || rounding[0] == '\0';

    if (!is_half(to) && is_plain)
        pkb_ptx_printf(w, "(%s)(", pkb_ptx_type_in_c(to));
    else
        pkb_ptx_printf(w, "pkb_%s_to_%s_%s(", widened_name(from), pkb_ptx_type_name(to),
                       is_plain ? "rn" : rounding);
    put_widened(w, from, operand);
    pkb_buf_append_string(&w->body, ")");
}

static bool to_float(pkb_ptx_writer *w, pkb_ptx_type to, pkb_ptx_type from)
{
    const char *integral = take_integer_rounding(w), *rounding = take_rounding(w);
    int depth = open_result(w, to);

    if (integral != NULL && is_half(to))
        pkb_ptx_printf(w, "pkb_f32_to_%s_rn(pkb_%s_f32(", pkb_ptx_type_name(to), integral);
    else if (integral != NULL)
        pkb_ptx_printf(w, "(pkb_%s_%s(", integral, pkb_ptx_type_name(to));
    if (integral != NULL)
        put_widened(w, from, "$1");
    else if (to == from)
        pkb_ptx_put(w, "$1");
    else
        put_narrowing(w, to, from, rounding, "$1");
    if (integral != NULL)
        pkb_buf_append_string(&w->body, "))");
    close_result(w, depth);
    return integral == NULL || to == from;
}

/* f16x2 and bf16x2 of two f32: the first operand becomes the high half. */
static bool to_packed(pkb_ptx_writer *w, pkb_ptx_type to)
{
    const char *rounding = take_rounding(w);
    pkb_ptx_type half = to == PKB_PTX_F16X2 ? PKB_PTX_F16 : PKB_PTX_BF16;
    int depth = open_result(w, to);

    pkb_buf_append_string(&w->body, "pkb_pack(");
    put_narrowing(w, half, PKB_PTX_F32, rounding, "$2");
    pkb_buf_append_string(&w->body, ",");
    put_narrowing(w, half, PKB_PTX_F32, rounding, "$1");
    pkb_buf_append_string(&w->body, ")");
    close_result(w, depth);
    return w->in.operand_count == 3;
}

/* fp8 pairs; they always saturate to the largest finite value. */
static bool to_fp8(pkb_ptx_writer *w, pkb_ptx_type to, pkb_ptx_type from)
{
    bool is_relu = pkb_ptx_has(w, "relu");

    pkb_ptx_has(w, "rn");
    pkb_ptx_has(w, "satfinite");
    pkb_ptx_open_assignment(w, pkb_ptx_get(w, 0), to);
    pkb_ptx_printf(w, "pkb_%s_to_%s(", pkb_ptx_type_name(from), pkb_ptx_type_name(to));
    pkb_ptx_put(w, from == PKB_PTX_F32 ? "$1,$2" : "$1");
    pkb_ptx_printf(w, ",%d)", is_relu);
    pkb_ptx_close_assignment(w);
    return (from == PKB_PTX_F32 && w->in.operand_count == 3) ||
           (from == PKB_PTX_F16X2 && w->in.operand_count == 2);
}

static bool from_fp8(pkb_ptx_writer *w, pkb_ptx_type to, pkb_ptx_type from)
{
    take_rounding(w);
    int depth = open_result(w, to);
    pkb_ptx_printf(w, "pkb_%s_to_f16x2(", pkb_ptx_type_name(from));
    pkb_ptx_put(w, "$1)");
    close_result(w, depth);
    return to == PKB_PTX_F16X2;
}

static bool to_tf32(pkb_ptx_writer *w, pkb_ptx_type from)
{
    bool is_away = pkb_ptx_has(w, "rna"), is_relu = pkb_ptx_has(w, "relu");
    const char *rounding = take_rounding(w);

    pkb_ptx_open_assignment(w, pkb_ptx_get(w, 0), PKB_PTX_B32);
    pkb_ptx_printf(w, "pkb_f32_to_tf32_%s(", is_away ? "rna" : rounding);
    pkb_ptx_put(w, is_relu ? "pkb_relu_f32($1))" : "$1)");
    pkb_ptx_close_assignment(w);
    return from == PKB_PTX_F32 && (is_away || rounding[0] != '\0');
}

static bool is_plain_float(pkb_ptx_type type)
{
    return type == PKB_PTX_F32 || type == PKB_PTX_F64 || is_half(type);
}

bool pkb_ptx_write_cvt(pkb_ptx_writer *w, const char *variant)
{
    pkb_ptx_type to = pkb_ptx_take_type(w), from = pkb_ptx_take_type(w);

    (void)variant;
    if (from == PKB_PTX_NO_TYPE || pkb_ptx_type_bits(to) > 64 || pkb_ptx_type_bits(from) > 64)
        return false;
    pkb_ptx_set_types(w, from);
    w->in.is_flushing = from == PKB_PTX_F32 && pkb_ptx_has(w, "ftz");
    if (to == PKB_PTX_TF32)
        return to_tf32(w, from);
    if (to == PKB_PTX_E4M3X2 || to == PKB_PTX_E5M2X2)
        return to_fp8(w, to, from);
    if (from == PKB_PTX_E4M3X2 || from == PKB_PTX_E5M2X2)
        return from_fp8(w, to, from);
    if ((to == PKB_PTX_F16X2 || to == PKB_PTX_BF16X2) && from == PKB_PTX_F32)
        return to_packed(w, to);
    if (w->in.operand_count != 2)
        return false;
    if (pkb_ptx_type_is_integer(to) && pkb_ptx_type_is_integer(from)) {
        integer_to_integer(w, to, from);
        return true;
    }
    if (pkb_ptx_type_is_integer(to) && is_plain_float(from))
        return float_to_integer(w, to, from);
    if (is_plain_float(to) && (is_plain_float(from) || pkb_ptx_type_is_integer(from)))
        return to_float(w, to, from);
    return false;
}
