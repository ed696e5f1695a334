/* SPDX-License-Identifier: Apache-2.0
 *
 * Bitwise instructions; see opcode.h.
 */
#include <string.h>

#include "harness/cpu/translator/opcode.h"

/* `destination = pkb_<operation>_<type>(arguments);` */
static void assign_call(pkb_ptx_writer *w, pkb_ptx_type result, const char *operation,
                        pkb_ptx_type type, const char *arguments)
{
    pkb_ptx_open_assignment(w, pkb_ptx_get(w, 0), result);
    pkb_ptx_printf(w, "pkb_%s_%s(", operation, pkb_ptx_type_name(type));
    pkb_ptx_put(w, arguments);
    pkb_buf_append_string(&w->body, ")");
    pkb_ptx_close_assignment(w);
}

/* and, or, xor: `variant` is the C operator */
bool pkb_ptx_write_logic(pkb_ptx_writer *w, const char *variant)
{
    pkb_ptx_type type = pkb_ptx_take_type(w);
    pkb_ptx_set_types(w, type);
    pkb_ptx_open_assignment(w, pkb_ptx_get(w, 0), type);
    pkb_ptx_put(w, "$1");
    pkb_buf_append_string(&w->body, variant);
    pkb_ptx_put(w, "$2");
    pkb_ptx_close_assignment(w);
    return type == PKB_PTX_PRED || pkb_ptx_type_is_integer(type);
}

bool pkb_ptx_write_not(pkb_ptx_writer *w, const char *variant)
{
    bool is_cnot = strcmp(variant, "cnot") == 0;
    pkb_ptx_type type = pkb_ptx_take_type(w);
    pkb_ptx_set_types(w, type);
    pkb_ptx_assign(w, 0, type, is_cnot ? "$1==0" : type == PKB_PTX_PRED ? "!($1)" : "~$1");
    return type == PKB_PTX_PRED || pkb_ptx_type_is_integer(type);
}

/* lop3.b32 d,a,b,c,table or lop3.BoolOp.b32 d|p,a,b,c,table,q */
bool pkb_ptx_write_lop3(pkb_ptx_writer *w, const char *variant)
{
    const pkb_ptx_operand *destination = pkb_ptx_get(w, 0);
    bool is_or = pkb_ptx_has(w, "or"), is_and = pkb_ptx_has(w, "and");

    (void)variant;
    pkb_ptx_set_types(w, pkb_ptx_take_type(w));
    if (!is_or && !is_and) {
        pkb_ptx_assign(w, 0, PKB_PTX_B32, "pkb_lop3($1,$2,$3,$4)");
        return w->in.operand_count == 5;
    }
    w->in.types[5] = PKB_PTX_PRED;
    pkb_ptx_put(w, "uint32_t t=pkb_lop3($1,$2,$3,$4);");
    if (destination->pair != 0) {
        pkb_ptx_open_assignment(w, &w->in.parts[destination->pair], PKB_PTX_PRED);
        pkb_ptx_put(w, is_or ? "t!=0|$5" : "t!=0&$5");
        pkb_ptx_close_assignment(w);
    }
    pkb_ptx_assign(w, 0, PKB_PTX_B32, "t");
    return w->in.operand_count == 6;
}

bool pkb_ptx_write_shift(pkb_ptx_writer *w, const char *variant)
{
    pkb_ptx_type type = pkb_ptx_take_type(w);
    bool is_signed = pkb_ptx_type_is_signed(type) && variant[2] == 'r';
    unsigned bits = pkb_ptx_type_bits(type);

    pkb_ptx_set_types(w, is_signed ? type : pkb_ptx_type_as_bits(type));
    w->in.types[2] = PKB_PTX_U32;
    pkb_ptx_open_assignment(w, pkb_ptx_get(w, 0), is_signed ? type : pkb_ptx_type_as_bits(type));
    pkb_ptx_printf(w, "pkb_%s_%c%u(", variant, is_signed ? 's' : 'b', bits);
    pkb_ptx_put(w, "$1,$2)");
    pkb_ptx_close_assignment(w);
    return pkb_ptx_type_is_integer(type) && bits >= 16 && bits <= 64;
}

bool pkb_ptx_write_funnel(pkb_ptx_writer *w, const char *variant)
{
    bool is_left = pkb_ptx_has(w, "l"), is_clamp = pkb_ptx_has(w, "clamp");

    (void)variant;
    if ((!is_left && !pkb_ptx_has(w, "r")) || (!is_clamp && !pkb_ptx_has(w, "wrap")))
        return false;
    pkb_ptx_set_types(w, pkb_ptx_take_type(w));
    pkb_ptx_open_assignment(w, pkb_ptx_get(w, 0), PKB_PTX_B32);
    pkb_ptx_printf(w, "pkb_shf_%s(", is_left ? "left" : "right");
    pkb_ptx_put(w, is_clamp ? "$1,$2,($3)<32?$3:32)" : "$1,$2,($3)&31)");
    pkb_ptx_close_assignment(w);
    return true;
}

/* popc, clz, brev, bfind */
bool pkb_ptx_write_bit_count(pkb_ptx_writer *w, const char *variant)
{
    pkb_ptx_type type = pkb_ptx_take_type(w);
    bool is_find = strcmp(variant, "bfind") == 0, is_reverse = strcmp(variant, "brev") == 0;
    bool is_amount = pkb_ptx_has(w, "shiftamt");
    unsigned bits = pkb_ptx_type_bits(type);

    pkb_ptx_type read = is_find ? type : pkb_ptx_type_as_bits(type);
    pkb_ptx_set_types(w, read);
    pkb_ptx_open_assignment(w, pkb_ptx_get(w, 0), is_reverse ? read : PKB_PTX_U32);
    if (is_amount)
        pkb_ptx_printf(w, "pkb_shift_amount(%u,", bits);
    pkb_ptx_printf(w, "pkb_%s_%s(", variant, pkb_ptx_type_name(read));
    pkb_ptx_put(w, is_amount ? "$1))" : "$1)");
    pkb_ptx_close_assignment(w);
    return pkb_ptx_type_is_integer(type) && (bits == 32 || bits == 64) &&
           (!is_find || pkb_ptx_type_class(type) != PKB_PTX_CLASS_BITS);
}

/* bfe and bfi: positions and lengths are u32 at the end */
bool pkb_ptx_write_bit_field(pkb_ptx_writer *w, const char *variant)
{
    pkb_ptx_type type = pkb_ptx_take_type(w);
    bool is_insert = strcmp(variant, "bfi") == 0;
    unsigned bits = pkb_ptx_type_bits(type);

    pkb_ptx_set_types(w, type);
    w->in.types[is_insert ? 3 : 2] = w->in.types[is_insert ? 4 : 3] = PKB_PTX_U32;
    assign_call(w, type, variant, type, is_insert ? "$1,$2,$3,$4" : "$1,$2,$3");
    return pkb_ptx_type_is_integer(type) && (bits == 32 || bits == 64) &&
           is_insert == (pkb_ptx_type_class(type) == PKB_PTX_CLASS_BITS);
}

bool pkb_ptx_write_prmt(pkb_ptx_writer *w, const char *variant)
{
    static const char *const modes[] = {"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"};
    const char *mode = "bytes";

    (void)variant;
    pkb_ptx_set_types(w, pkb_ptx_take_type(w));
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++)
        if (pkb_ptx_has(w, modes[i]))
            mode = modes[i];
    pkb_ptx_open_assignment(w, pkb_ptx_get(w, 0), PKB_PTX_B32);
    pkb_ptx_printf(w, "pkb_prmt_%s(", mode);
    pkb_ptx_put(w, "$1,$2,$3)");
    pkb_ptx_close_assignment(w);
    return true;
}

/* bmsk, szext, fns */
bool pkb_ptx_write_mask(pkb_ptx_writer *w, const char *variant)
{
    pkb_ptx_type type = pkb_ptx_take_type(w);
    bool is_wrap = pkb_ptx_has(w, "wrap");

    pkb_ptx_set_types(w, PKB_PTX_U32);
    if (strcmp(variant, "fns") == 0) {
        w->in.types[3] = PKB_PTX_S32;
        assign_call(w, PKB_PTX_U32, variant, PKB_PTX_B32, "$1,$2,$3");
        return type == PKB_PTX_B32;
    }
    if (!is_wrap && !pkb_ptx_has(w, "clamp"))
        return false;
    assign_call(w, PKB_PTX_U32, variant, type, is_wrap ? "$1,$2,1" : "$1,$2,0");
    return pkb_ptx_type_bits(type) == 32;
}
