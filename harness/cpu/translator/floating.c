/* SPDX-License-Identifier: Apache-2.0
 *
 * Floating point; see opcode.h. f32 and f64 in the default rounding are plain C; everything else
 * is a function of device/number.h named pkb_<operation>_<type>[_<rounding>].
 */
#include <stdio.h>
#include <string.h>

#include "harness/cpu/translator/opcode.h"

/* "" for round to nearest even, else the suffix of the directed function. */
static const char *take_rounding(pkb_ptx_writer *w)
{
    if (pkb_ptx_has(w, "rz"))
        return "_rz";
    if (pkb_ptx_has(w, "rm"))
        return "_rm";
    if (pkb_ptx_has(w, "rp"))
        return "_rp";
    /* The approximate forms give the accurate result, which lies within their bounds. */
    if (pkb_ptx_has(w, "rn") || pkb_ptx_has(w, "approx") || pkb_ptx_has(w, "full"))
        return "";
    return "";
}

static const char *plain_template(const char *operation)
{
    static const struct {
        const char *operation, *template;
    } rows[] = {{"add", "$1+$2"}, {"sub", "$1-$2"}, {"mul", "$1*$2"}, {"div", "$1/$2"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (strcmp(rows[i].operation, operation) == 0)
            return rows[i].template;
    return NULL;
}

static bool is_unary(const char *operation)
{
    return strcmp(operation, "abs") == 0 || strcmp(operation, "neg") == 0;
}

/* The value, with what .ftz, .sat and .relu do to it around. */
static void assign_float(pkb_ptx_writer *w, pkb_ptx_type type, const char *function,
                         const char *arguments)
{
    const char *name = pkb_ptx_type_name(type);
    const char *closing[4] = {"", "", "", ""};
    int depth = 0;

    pkb_ptx_open_assignment(w, pkb_ptx_get(w, 0), type);
    if (pkb_ptx_has(w, "sat")) {
        pkb_ptx_printf(w, "pkb_sat_%s(", name);
        closing[depth++] = ")";
    }
    if (pkb_ptx_has(w, "relu")) {
        pkb_ptx_printf(w, "pkb_relu_%s(", name);
        closing[depth++] = ")";
    }
    if (w->in.is_flushing) {
        pkb_ptx_printf(w, "pkb_ftz_%s(", name);
        closing[depth++] = ")";
    }
    if (function != NULL) {
        pkb_ptx_printf(w, "%s(", function);
        closing[depth++] = ")";
    }
    pkb_ptx_put(w, arguments);
    while (depth > 0)
        pkb_buf_append_string(&w->body, closing[--depth]);
    pkb_ptx_close_assignment(w);
}

bool pkb_ptx_write_float(pkb_ptx_writer *w, pkb_ptx_type type, const char *operation)
{
    const char *rounding = take_rounding(w);
    const char *is_nan = pkb_ptx_has(w, "NaN") ? "nan" : "";
    const char *xorsign = pkb_ptx_has(w, "xorsign") && pkb_ptx_has(w, "abs") ? "xorsign" : "";
    bool is_fma = strcmp(operation, "fma") == 0;
    char function[64];

    if (pkb_ptx_type_class(type) != PKB_PTX_CLASS_FLOAT && type != PKB_PTX_F16 &&
        type != PKB_PTX_BF16 && type != PKB_PTX_F16X2 && type != PKB_PTX_BF16X2)
        return false;
    w->in.is_flushing = pkb_ptx_has(w, "ftz");
    pkb_ptx_set_types(w, type);
    if (pkb_ptx_type_class(type) == PKB_PTX_CLASS_FLOAT && rounding[0] == '\0' &&
        plain_template(operation) != NULL) {
        assign_float(w, type, NULL, plain_template(operation));
        return w->in.operand_count == 3;
    }
    snprintf(function, sizeof function, "pkb_%s%s%s_%s%s", operation, is_nan, xorsign,
             pkb_ptx_type_name(type), rounding);
    if (type != PKB_PTX_F32 && type != PKB_PTX_F64 && rounding[0] != '\0')
        return false;
    assign_float(w, type, function, is_unary(operation) ? "$1" : is_fma ? "$1,$2,$3" : "$1,$2");
    return w->in.operand_count == (is_unary(operation) ? 2 : is_fma ? 4 : 3);
}

bool pkb_ptx_write_fma(pkb_ptx_writer *w, const char *variant)
{
    (void)variant;
    if (pkb_ptx_has(w, "oob"))
        return false;
    return pkb_ptx_write_float(w, pkb_ptx_take_type(w), "fma");
}

/* Functions of one argument: rcp, sqrt, rsqrt, ex2, lg2, sin, cos, tanh */
bool pkb_ptx_write_function(pkb_ptx_writer *w, const char *variant)
{
    pkb_ptx_type type = pkb_ptx_take_type(w);
    bool is_exact = strcmp(variant, "rcp") == 0 || strcmp(variant, "sqrt") == 0 ||
                    strcmp(variant, "rsqrt") == 0;
    bool is_half = pkb_ptx_type_class(type) == PKB_PTX_CLASS_HALF;
    bool has_half = strcmp(variant, "ex2") == 0 || strcmp(variant, "tanh") == 0;
    const char *rounding = take_rounding(w);
    char function[64];

    if (!pkb_ptx_type_is_float(type) || (is_half && !has_half) ||
        (type == PKB_PTX_F64 && !is_exact) || (rounding[0] != '\0' && !is_exact) ||
        type == PKB_PTX_TF32)
        return false;
    w->in.is_flushing = pkb_ptx_has(w, "ftz") && type != PKB_PTX_F64;
    pkb_ptx_set_types(w, type);
    snprintf(function, sizeof function, "pkb_%s_%s%s", variant, pkb_ptx_type_name(type), rounding);
    assign_float(w, type, function, "$1");
    return w->in.operand_count == 2;
}

/* copysign d, a, b: the sign of a on b */
bool pkb_ptx_write_copysign(pkb_ptx_writer *w, const char *variant)
{
    pkb_ptx_type type = pkb_ptx_take_type(w);

    (void)variant;
    pkb_ptx_set_types(w, type);
    pkb_ptx_assign(w, 0, type,
                   type == PKB_PTX_F64 ? "__builtin_copysign($2,$1)"
                                       : "__builtin_copysignf($2,$1)");
    return pkb_ptx_type_class(type) == PKB_PTX_CLASS_FLOAT;
}

bool pkb_ptx_write_testp(pkb_ptx_writer *w, const char *variant)
{
    static const char *const tests[] = {"finite",     "infinite", "number",
                                        "notanumber", "normal",   "subnormal"};
    pkb_ptx_type type = pkb_ptx_take_type(w);

    (void)variant;
    pkb_ptx_set_types(w, type);
    for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++) {
        if (!pkb_ptx_has(w, tests[i]))
            continue;
        pkb_ptx_open_assignment(w, pkb_ptx_get(w, 0), PKB_PTX_PRED);
        pkb_ptx_printf(w, "pkb_is_%s_%s(", tests[i], pkb_ptx_type_name(type));
        pkb_ptx_put(w, "$1)");
        pkb_ptx_close_assignment(w);
        return pkb_ptx_type_class(type) == PKB_PTX_CLASS_FLOAT;
    }
    return false;
}
