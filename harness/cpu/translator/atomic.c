/* SPDX-License-Identifier: Apache-2.0
 *
 * atom and red; see opcode.h. All are sequentially consistent, which x86's locked instructions
 * are anyway.
 */
#include <string.h>

#include "harness/cpu/translator/opcode.h"

static const char *take_operation(pkb_ptx_writer *w)
{
    static const char *const names[] = {"add", "min",  "max", "and", "or",
                                        "xor", "exch", "cas", "inc", "dec"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (pkb_ptx_has(w, names[i]))
            return names[i];
    return NULL;
}

static bool take_space(pkb_ptx_writer *w, bool *is_shared)
{
    *is_shared = pkb_ptx_has(w, "shared") || pkb_ptx_has(w, "shared::cta");
    pkb_ptx_has(w, "global");
    return !pkb_ptx_has(w, "shared::cluster");
}

static void ignore_order(pkb_ptx_writer *w)
{
    static const char *const names[] = {"relaxed", "acquire",       "release", "acq_rel",
                                        "cta",     "cluster",       "gpu",     "sys",
                                        "noftz",   "L2::cache_hint"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        pkb_ptx_has(w, names[i]);
}

/* Sums wrap alike and bit operations know no sign: fewer functions. */
static pkb_ptx_type operation_type(const char *operation, pkb_ptx_type type)
{
    bool is_ordered = strcmp(operation, "min") == 0 || strcmp(operation, "max") == 0;
    if (pkb_ptx_type_is_float(type) || is_ordered)
        return type;
    return pkb_ptx_type_as_bits(type);
}

static bool is_known(const char *operation, pkb_ptx_type type)
{
    unsigned bits = pkb_ptx_type_bits(type);
    bool is_min_max = strcmp(operation, "min") == 0 || strcmp(operation, "max") == 0;

    if (strcmp(operation, "cas") == 0)
        return bits == 16 || bits == 32 || bits == 64;
    if (pkb_ptx_type_class(type) == PKB_PTX_CLASS_FLOAT)
        return strcmp(operation, "add") == 0;
    if (pkb_ptx_type_class(type) == PKB_PTX_CLASS_HALF)
        return (strcmp(operation, "add") == 0 || is_min_max) && type != PKB_PTX_TF32 &&
               type != PKB_PTX_E4M3X2 && type != PKB_PTX_E5M2X2;
    if (strcmp(operation, "inc") == 0 || strcmp(operation, "dec") == 0)
        return bits == 32;
    return (bits == 32 || bits == 64) &&
           (!is_min_max || pkb_ptx_type_class(type) != PKB_PTX_CLASS_BITS);
}

/* Vectors are atomic element by element. All old values are read before any is assigned, because
 * sources and destinations may be the same registers. */
static bool write_vector(pkb_ptx_writer *w, const char *operation, pkb_ptx_type type, bool is_red)
{
    const pkb_ptx_operand *to = pkb_ptx_get(w, 0), *from = pkb_ptx_get(w, is_red ? 1 : 2);
    uint32_t count = from->part_count;

    if (!pkb_ptx_type_is_float(type) || (!is_red && to->part_count != count))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        pkb_ptx_printf(w, "%s d%u=pkb_atomic_%s_%s(a+%u,", pkb_ptx_type_in_c(type), i, operation,
                       pkb_ptx_type_name(type), i * pkb_ptx_type_bits(type) / 8);
        pkb_ptx_put_operand(w, &w->in.parts[from->part + i], type);
        pkb_buf_append_string(&w->body, ");");
    }
    for (uint32_t i = 0; i < count && !is_red; i++) {
        pkb_ptx_open_assignment(w, &w->in.parts[to->part + i], type);
        pkb_ptx_printf(w, "d%u", i);
        pkb_ptx_close_assignment(w);
    }
    return true;
}

static uint32_t take_count(pkb_ptx_writer *w)
{
    return pkb_ptx_has(w, "v2") ? 2 : pkb_ptx_has(w, "v4") ? 4 : pkb_ptx_has(w, "v8") ? 8 : 1;
}

bool pkb_ptx_write_atomic(pkb_ptx_writer *w, const char *variant)
{
    bool is_red = strcmp(variant, "red") == 0, is_shared;
    uint32_t address = is_red ? 0 : 1, count = take_count(w);
    const char *operation = take_operation(w);
    pkb_ptx_type type = pkb_ptx_take_type(w);

    ignore_order(w);
    if (operation == NULL || !take_space(w, &is_shared) || !is_known(operation, type))
        return false;
    type = operation_type(operation, type);
    pkb_ptx_set_types(w, type);
    pkb_ptx_printf(w, "uint8_t *a=PKB_WRITE_%s(", is_shared ? "SHARED" : "GENERIC");
    pkb_ptx_put_address(w, pkb_ptx_get(w, address));
    pkb_ptx_printf(w, ",%u);", count * pkb_ptx_type_bits(type) / 8);
    if (count > 1)
        return pkb_ptx_get(w, address + 1)->part_count == count &&
               write_vector(w, operation, type, is_red);
    if (!is_red)
        pkb_ptx_open_assignment(w, pkb_ptx_get(w, 0), type);
    pkb_ptx_printf(w, "pkb_atomic_%s_%s(a,", operation, pkb_ptx_type_name(type));
    pkb_ptx_put(w, is_red ? "$1" : "$2");
    if (strcmp(operation, "cas") == 0)
        pkb_ptx_put(w, ",$3");
    pkb_buf_append_string(&w->body, is_red ? ");" : ")");
    if (!is_red)
        pkb_ptx_close_assignment(w);
    return true;
}
