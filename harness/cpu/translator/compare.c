/* SPDX-License-Identifier: Apache-2.0
 *
 * Comparisons and selections; see opcode.h. Floats: eq lt le gt ge and also ne are false on NaN,
 * the forms that end in u are true.
 */
#include <string.h>

#include "harness/cpu/translator/opcode.h"

typedef struct comparison {
    const char *name;
    const char *integer; /* %s: the operands; NULL = floats only */
    const char *floating;
    bool is_unsigned; /* lo, ls, hi, hs compare any type as unsigned */
} comparison;

static const comparison comparisons[] = {
    {"eq", "$1==$2", "$1==$2", false},
    {"ne", "$1!=$2", "__builtin_islessgreater($1,$2)", false},
    {"lt", "$1<$2", "$1<$2", false},
    {"le", "$1<=$2", "$1<=$2", false},
    {"gt", "$1>$2", "$1>$2", false},
    {"ge", "$1>=$2", "$1>=$2", false},
    {"lo", "$1<$2", NULL, true},
    {"ls", "$1<=$2", NULL, true},
    {"hi", "$1>$2", NULL, true},
    {"hs", "$1>=$2", NULL, true},
    {"equ", NULL, "!__builtin_islessgreater($1,$2)", false},
    {"neu", NULL, "$1!=$2", false},
    {"ltu", NULL, "!($1>=$2)", false},
    {"leu", NULL, "!($1>$2)", false},
    {"gtu", NULL, "!($1<=$2)", false},
    {"geu", NULL, "!($1<$2)", false},
    {"num", NULL, "!__builtin_isunordered($1,$2)", false},
    {"nan", NULL, "__builtin_isunordered($1,$2)", false},
};

static const comparison *take_comparison(pkb_ptx_writer *w)
{
    for (size_t i = 0; i < sizeof comparisons / sizeof comparisons[0]; i++)
        if (pkb_ptx_has(w, comparisons[i].name))
            return &comparisons[i];
    return NULL;
}

static const char *take_bool_operator(pkb_ptx_writer *w)
{
    if (pkb_ptx_has(w, "and"))
        return "&";
    if (pkb_ptx_has(w, "or"))
        return "|";
    return pkb_ptx_has(w, "xor") ? "^" : NULL;
}

/* `_Bool name = …;` for one comparison. Halves are compared as floats; `lane` picks the element
 * of a packed pair. */
static bool put_comparison(pkb_ptx_writer *w, const comparison *c, pkb_ptx_type type,
                           const char *name, int lane)
{
    static const char *const read_half[] = {"pkb_f16_to_f32", "pkb_bf16_to_f32"};
    bool is_bf16 = type == PKB_PTX_BF16 || type == PKB_PTX_BF16X2;

    if (pkb_ptx_type_class(type) == PKB_PTX_CLASS_HALF) {
        for (int i = 1; i <= 2; i++) {
            pkb_ptx_printf(w, "float x%d=%s((uint16_t)((", i, read_half[is_bf16]);
            pkb_ptx_put(w, i == 1 ? "$1" : "$2");
            pkb_ptx_printf(w, ")>>%d));", lane * 16);
        }
        pkb_ptx_printf(w, "_Bool %s=", name);
        for (const char *at = c->floating == NULL ? "" : c->floating; *at != '\0'; at++)
            pkb_buf_append_byte(&w->body, *at == '$' ? 'x' : *at);
        pkb_buf_append_string(&w->body, ";");
        return c->floating != NULL;
    }
    const char *template = pkb_ptx_type_is_float(type) ? c->floating : c->integer;
    pkb_ptx_printf(w, "_Bool %s=", name);
    pkb_ptx_put(w, template == NULL ? "" : template);
    pkb_buf_append_string(&w->body, ";");
    return template != NULL;
}

static pkb_ptx_type compared_type(pkb_ptx_writer *w, const comparison *c, pkb_ptx_type type)
{
    static const pkb_ptx_type as_unsigned[] = {PKB_PTX_U16, PKB_PTX_U32, PKB_PTX_U64};
    if (!c->is_unsigned)
        return type;
    w->in.is_flushing = false;
    unsigned bits = pkb_ptx_type_bits(type);
    return as_unsigned[bits == 16 ? 0 : bits == 32 ? 1 : 2];
}

static void put_predicate(pkb_ptx_writer *w, const pkb_ptx_operand *destination, const char *value,
                          const char *joint)
{
    pkb_ptx_open_assignment(w, destination, PKB_PTX_PRED);
    pkb_buf_append_string(&w->body, value);
    if (joint != NULL) {
        pkb_buf_append_string(&w->body, joint);
        pkb_ptx_put(w, "$3");
    }
    pkb_ptx_close_assignment(w);
}

/* setp.Cmp[.Bool][.ftz].type p[|q], a, b[, [!]c] */
bool pkb_ptx_write_setp(pkb_ptx_writer *w, const char *variant)
{
    const comparison *c = take_comparison(w);
    const char *joint = take_bool_operator(w);
    pkb_ptx_type type = pkb_ptx_take_type(w);
    const pkb_ptx_operand *p = pkb_ptx_get(w, 0), *q = p->pair != 0 ? &w->in.parts[p->pair] : NULL;
    bool is_pair = type == PKB_PTX_F16X2 || type == PKB_PTX_BF16X2;

    (void)variant;
    if (c == NULL || type == PKB_PTX_NO_TYPE || (joint != NULL) != (w->in.operand_count == 4))
        return false;
    w->in.is_flushing = pkb_ptx_has(w, "ftz");
    pkb_ptx_set_types(w, compared_type(w, c, type));
    w->in.types[3] = PKB_PTX_PRED;
    if (is_pair) {
        pkb_buf_append_string(&w->body, "_Bool t,u;{");
        bool is_known = put_comparison(w, c, type, "r", 0);
        pkb_buf_append_string(&w->body, "t=r;}{");
        put_comparison(w, c, type, "r", 1);
        pkb_buf_append_string(&w->body, "u=r;}");
        put_predicate(w, p, "t", joint);
        if (q != NULL)
            put_predicate(w, q, "u", joint);
        return is_known;
    }
    bool is_known = put_comparison(w, c, type, "t", 0);
    /* The third operand may be the first destination. */
    if (q != NULL && joint != NULL) {
        pkb_ptx_put(w, "_Bool c=$3;");
        pkb_ptx_open_assignment(w, p, PKB_PTX_PRED);
        pkb_ptx_printf(w, "t%sc", joint);
        pkb_ptx_close_assignment(w);
        pkb_ptx_open_assignment(w, q, PKB_PTX_PRED);
        pkb_ptx_printf(w, "!t%sc", joint);
        pkb_ptx_close_assignment(w);
        return is_known;
    }
    put_predicate(w, p, "t", joint);
    if (q != NULL)
        put_predicate(w, q, "!t", NULL);
    return is_known;
}

static const char *true_value(pkb_ptx_type type, bool is_bf16)
{
    switch (pkb_ptx_type_bits(type)) {
    case 16:
        return !pkb_ptx_type_is_float(type) ? "0xffffu" : is_bf16 ? "0x3f80u" : "0x3c00u";
    default:
        return type == PKB_PTX_F32 ? "1.0f" : "0xffffffffu";
    }
}

/* set.Cmp[.Bool][.ftz].dtype.stype d, a, b[, [!]c]: all ones or 1.0 */
bool pkb_ptx_write_set(pkb_ptx_writer *w, const char *variant)
{
    const comparison *c = take_comparison(w);
    const char *joint = take_bool_operator(w);
    pkb_ptx_type result = pkb_ptx_take_type(w), type = pkb_ptx_take_type(w);
    bool is_pair = type == PKB_PTX_F16X2 || type == PKB_PTX_BF16X2;
    bool is_bf16 = type == PKB_PTX_BF16 || type == PKB_PTX_BF16X2;

    (void)variant;
    if (c == NULL || type == PKB_PTX_NO_TYPE || (joint != NULL) != (w->in.operand_count == 4))
        return false;
    w->in.is_flushing = pkb_ptx_has(w, "ftz");
    pkb_ptx_set_types(w, compared_type(w, c, type));
    w->in.types[3] = PKB_PTX_PRED;
    pkb_ptx_type half =
        result == PKB_PTX_F16X2 || result == PKB_PTX_BF16X2 ? PKB_PTX_F16 : PKB_PTX_U16;
    bool is_known = true;
    pkb_ptx_printf(w, "%s d=0;", is_pair ? "uint32_t" : pkb_ptx_type_in_c(result));
    for (int lane = 0; lane < (is_pair ? 2 : 1); lane++) {
        pkb_buf_append_string(&w->body, "{");
        is_known = put_comparison(w, c, type, "t", lane);
        pkb_buf_append_string(&w->body, "if(t");
        if (joint != NULL) {
            pkb_buf_append_string(&w->body, joint);
            pkb_ptx_put(w, "$3");
        }
        if (is_pair)
            pkb_ptx_printf(w, ")d|=%s<<%d;}", true_value(half, is_bf16), lane * 16);
        else
            pkb_ptx_printf(w, ")d=(%s)%s;}", pkb_ptx_type_in_c(result),
                           true_value(result, is_bf16));
    }
    pkb_ptx_assign(w, 0, is_pair ? PKB_PTX_B32 : result, "d");
    return is_known;
}

bool pkb_ptx_write_selp(pkb_ptx_writer *w, const char *variant)
{
    pkb_ptx_type type = pkb_ptx_take_type(w);

    (void)variant;
    pkb_ptx_set_types(w, type);
    w->in.types[3] = PKB_PTX_PRED;
    pkb_ptx_assign(w, 0, type, "$3?$1:$2");
    return type != PKB_PTX_NO_TYPE;
}

bool pkb_ptx_write_slct(pkb_ptx_writer *w, const char *variant)
{
    bool is_flushing = pkb_ptx_has(w, "ftz");
    pkb_ptx_type type = pkb_ptx_take_type(w), decider = pkb_ptx_take_type(w);

    (void)variant;
    pkb_ptx_set_types(w, type);
    w->in.types[3] = decider;
    /* A negative subnormal counts as zero when flushed. */
    if (decider == PKB_PTX_F32)
        pkb_ptx_assign(w, 0, type, is_flushing ? "pkb_ftz_f32($3)>=0?$1:$2" : "$3>=0?$1:$2");
    else
        pkb_ptx_assign(w, 0, type, "$3>=0?$1:$2");
    return type != PKB_PTX_NO_TYPE && (decider == PKB_PTX_S32 || decider == PKB_PTX_F32);
}
