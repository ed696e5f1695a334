/* SPDX-License-Identifier: Apache-2.0
 *
 * ld, st, mov, cvta, isspacep; see opcode.h. Every access goes through the macros of
 * device/access.h: PKB_READ_x and PKB_WRITE_x turn an address of a space into a host pointer and
 * check it, PKB_GET_n and PKB_PUT_n move one element.
 */
#include <string.h>

#include "harness/cpu/translator/opcode.h"

typedef struct access {
    pkb_ptx_space space;
    pkb_ptx_type type;
    uint32_t count;    /* elements */
    const char *order; /* "" plain, else the suffix of the atomic macro */
} access;

static pkb_ptx_space take_space(pkb_ptx_writer *w)
{
    pkb_ptx_space space = PKB_PTX_GENERIC;
    for (uint32_t i = 0; i < w->in.modifier_count; i++)
        if (pkb_ptx_space_of(w->in.modifiers[i], &space)) {
            w->in.taken |= 1u << i;
            return space;
        }
    return PKB_PTX_GENERIC;
}

/* Cache hints change speed only. Their operands, at the end of the list, are not read. */
static void ignore_hints(pkb_ptx_writer *w)
{
    static const char *const names[] = {"nc", "ca", "cg", "cs", "cv", "lu", "wb", "wt", "weak"};
    static const char *const prefixes[] = {".L1::", ".L2::", ".level::"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        pkb_ptx_has(w, names[i]);
    for (uint32_t i = 0; i < w->in.modifier_count; i++)
        for (size_t j = 0; j < sizeof prefixes / sizeof prefixes[0]; j++)
            if (w->in.modifiers[i]->length > strlen(prefixes[j]) &&
                memcmp(w->in.modifiers[i]->text, prefixes[j], strlen(prefixes[j])) == 0)
                w->in.taken |= 1u << i;
}

static void ignore_scopes(pkb_ptx_writer *w)
{
    static const char *const names[] = {"cta", "cluster", "gpu", "sys"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        pkb_ptx_has(w, names[i]);
}

static const char *take_order(pkb_ptx_writer *w, const char *ordered, const char *suffix)
{
    ignore_scopes(w);
    if (pkb_ptx_has(w, ordered))
        return suffix;
    if (pkb_ptx_has(w, "volatile") || pkb_ptx_has(w, "relaxed") || pkb_ptx_has(w, "mmio"))
        return "_RELAXED";
    return "";
}

static bool take_access(pkb_ptx_writer *w, access *out, bool is_load)
{
    ignore_hints(w);
    out->order = take_order(w, is_load ? "acquire" : "release", is_load ? "_ACQUIRE" : "_RELEASE");
    out->space = take_space(w);
    out->type = pkb_ptx_take_type(w);
    out->count = pkb_ptx_has(w, "v2") ? 2 : pkb_ptx_has(w, "v4") ? 4 : pkb_ptx_has(w, "v8") ? 8 : 1;
    return out->type != PKB_PTX_NO_TYPE && out->type != PKB_PTX_PRED;
}

static void put_pointer(pkb_ptx_writer *w, const access *a, const pkb_ptx_operand *address,
                        bool is_load)
{
    static const char *const spaces[] = {
        [PKB_PTX_GENERIC] = "GENERIC", [PKB_PTX_GLOBAL] = "GLOBAL", [PKB_PTX_CONST] = "CONST",
        [PKB_PTX_SHARED] = "SHARED",   [PKB_PTX_LOCAL] = "LOCAL",   [PKB_PTX_PARAM] = "PARAM"};

    pkb_ptx_printf(w, "uint8_t *a=PKB_%s_%s(", is_load ? "READ" : "WRITE", spaces[a->space]);
    pkb_ptx_put_address(w, address);
    pkb_ptx_printf(w, ",%u);", pkb_ptx_type_bits(a->type) / 8 * a->count);
}

static bool has_elements(const access *a, const pkb_ptx_operand *operand)
{
    if (a->count == 1)
        return operand->kind != PKB_PTX_OPERAND_VECTOR;
    return operand->kind == PKB_PTX_OPERAND_VECTOR && operand->part_count == a->count;
}

static const pkb_ptx_operand *element(const pkb_ptx_writer *w, const access *a,
                                      const pkb_ptx_operand *operand, uint32_t i)
{
    return a->count == 1 ? operand : &w->in.parts[operand->part + i];
}

/* The value is moved as bits and then gets its type, which says how it extends. */
static void put_load(pkb_ptx_writer *w, const access *a, const pkb_ptx_operand *to, uint32_t i)
{
    unsigned bits = pkb_ptx_type_bits(a->type);
    bool is_float = pkb_ptx_type_class(a->type) == PKB_PTX_CLASS_FLOAT;

    pkb_ptx_open_assignment(w, to, a->type);
    if (is_float)
        pkb_ptx_printf(w, "pkb_f%u(PKB_GET%s(%u,a,%u))", bits, a->order, bits, i * bits / 8);
    else
        pkb_ptx_printf(w, "(%s)PKB_GET%s(%u,a,%u)", pkb_ptx_type_in_c(a->type), a->order, bits,
                       i * bits / 8);
    pkb_ptx_close_assignment(w);
}

bool pkb_ptx_write_load(pkb_ptx_writer *w, const char *variant)
{
    access a;
    const pkb_ptx_operand *to = pkb_ptx_get(w, 0);

    (void)variant;
    if (!take_access(w, &a, true) || !has_elements(&a, to) || pkb_ptx_type_bits(a.type) > 128)
        return false;
    w->wait_count += a.order[0] != '\0';
    put_pointer(w, &a, pkb_ptx_get(w, 1), true);
    for (uint32_t i = 0; i < a.count; i++)
        if (element(w, &a, to, i)->kind != PKB_PTX_OPERAND_SINK)
            put_load(w, &a, element(w, &a, to, i), i);
    return true;
}

bool pkb_ptx_write_store(pkb_ptx_writer *w, const char *variant)
{
    access a;
    const pkb_ptx_operand *from = pkb_ptx_get(w, 1);

    (void)variant;
    if (!take_access(w, &a, false) || !has_elements(&a, from) || pkb_ptx_type_bits(a.type) > 128)
        return false;
    unsigned bits = pkb_ptx_type_bits(a.type);
    put_pointer(w, &a, pkb_ptx_get(w, 0), false);
    for (uint32_t i = 0; i < a.count; i++) {
        const pkb_ptx_operand *value = element(w, &a, from, i);
        if (value->kind == PKB_PTX_OPERAND_SINK)
            continue;
        pkb_ptx_printf(w, "PKB_PUT%s(%u,a,%u,", a.order, bits, i * bits / 8);
        pkb_ptx_type type = pkb_ptx_type_as_bits(a.type);
        /* A decimal immediate of a float store is a number, not a pattern. */
        if (value->kind != PKB_PTX_OPERAND_REGISTER &&
            pkb_ptx_type_class(a.type) == PKB_PTX_CLASS_FLOAT) {
            pkb_ptx_printf(w, "pkb_b%u(", bits);
            pkb_ptx_put_operand(w, value, a.type);
            pkb_buf_append_string(&w->body, ")");
        } else {
            pkb_ptx_put_operand(w, value, type);
        }
        pkb_buf_append_string(&w->body, ");");
    }
    return true;
}

static pkb_ptx_type bits_type(unsigned bits)
{
    switch (bits) {
    case 8:
        return PKB_PTX_B8;
    case 16:
        return PKB_PTX_B16;
    case 64:
        return PKB_PTX_B64;
    default:
        return PKB_PTX_B32;
    }
}

/* mov.b32 %r, {%rs1, %rs2}: the first element is the lowest */
static bool pack(pkb_ptx_writer *w, pkb_ptx_type type, const pkb_ptx_operand *from)
{
    unsigned bits = pkb_ptx_type_bits(type) / (from->part_count == 0 ? 1 : from->part_count);

    pkb_ptx_open_assignment(w, pkb_ptx_get(w, 0), pkb_ptx_type_as_bits(type));
    for (uint32_t i = 0; i < from->part_count; i++) {
        pkb_ptx_printf(w, "%s(%s)(", i == 0 ? "" : "|",
                       pkb_ptx_type_in_c(pkb_ptx_type_as_bits(type)));
        pkb_ptx_put_operand(w, &w->in.parts[from->part + i], bits_type(bits));
        pkb_ptx_printf(w, ")<<%u", i * bits);
    }
    pkb_ptx_close_assignment(w);
    return from->part_count == 2 || from->part_count == 4;
}

static bool unpack(pkb_ptx_writer *w, pkb_ptx_type type, const pkb_ptx_operand *to)
{
    unsigned bits = pkb_ptx_type_bits(type) / (to->part_count == 0 ? 1 : to->part_count);

    /* A destination may also be the source: read it once. */
    w->in.types[1] = pkb_ptx_type_as_bits(type);
    pkb_ptx_printf(w, "%s t=", pkb_ptx_type_in_c(w->in.types[1]));
    pkb_ptx_put(w, "$1;");
    for (uint32_t i = 0; i < to->part_count; i++) {
        const pkb_ptx_operand *part = &w->in.parts[to->part + i];
        if (part->kind == PKB_PTX_OPERAND_SINK)
            continue;
        pkb_ptx_open_assignment(w, part, bits_type(bits));
        pkb_ptx_printf(w, "(%s)(t>>%u)", pkb_ptx_type_in_c(bits_type(bits)), i * bits);
        pkb_ptx_close_assignment(w);
    }
    return to->part_count == 2 || to->part_count == 4;
}

bool pkb_ptx_write_move(pkb_ptx_writer *w, const char *variant)
{
    pkb_ptx_type type = pkb_ptx_take_type(w);
    const pkb_ptx_operand *to = pkb_ptx_get(w, 0), *from = pkb_ptx_get(w, 1);

    (void)variant;
    if (type == PKB_PTX_NO_TYPE)
        return false;
    if (from->kind == PKB_PTX_OPERAND_VECTOR)
        return pack(w, type, from);
    if (to->kind == PKB_PTX_OPERAND_VECTOR)
        return unpack(w, type, to);
    pkb_ptx_set_types(w, type);
    pkb_ptx_assign(w, 0, type, "$1");
    return true;
}

/* Local, constant, parameter and global addresses are generic ones already. */
bool pkb_ptx_write_cvta(pkb_ptx_writer *w, const char *variant)
{
    bool is_to = pkb_ptx_has(w, "to");
    pkb_ptx_space space = take_space(w);
    pkb_ptx_type type = pkb_ptx_take_type(w);

    (void)variant;
    pkb_ptx_set_types(w, type);
    pkb_ptx_assign(w, 0, type,
                   space != PKB_PTX_SHARED ? "$1"
                   : is_to                 ? "(uint32_t)($1)"
                                           : "pkb_shared_range+(uint32_t)($1)");
    return type == PKB_PTX_U64 && space != PKB_PTX_GENERIC;
}

bool pkb_ptx_write_isspacep(pkb_ptx_writer *w, const char *variant)
{
    pkb_ptx_space space = take_space(w);

    (void)variant;
    pkb_ptx_set_types(w, PKB_PTX_U64);
    switch (space) {
    case PKB_PTX_SHARED:
        pkb_ptx_assign(w, 0, PKB_PTX_PRED, "PKB_IS_SHARED($1)");
        return true;
    case PKB_PTX_GLOBAL:
        pkb_ptx_assign(w, 0, PKB_PTX_PRED, "PKB_IS_GLOBAL($1)");
        return true;
    case PKB_PTX_LOCAL:
        pkb_ptx_assign(w, 0, PKB_PTX_PRED, "PKB_IS_LOCAL($1)");
        return true;
    case PKB_PTX_CONST:
    case PKB_PTX_PARAM:
        pkb_ptx_assign(w, 0, PKB_PTX_PRED, "0*($1)");
        return true;
    case PKB_PTX_GENERIC:
        break;
    }
    return false;
}
