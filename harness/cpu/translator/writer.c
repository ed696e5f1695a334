/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes operands and assignments as C; see writer.h. Registers are untyped bits in PTX: each is
 * a C local of its declared width, and an instruction of another type converts on the way.
 */
#include "harness/cpu/translator/writer.h"

#include <stdio.h>
#include <string.h>

bool pkb_ptx_has(pkb_ptx_writer *w, const char *name)
{
    size_t length = strlen(name);
    for (uint32_t i = 0; i < w->in.modifier_count; i++) {
        const pkb_ptx_token *token = w->in.modifiers[i];
        if (token->length == length + 1 && memcmp(token->text + 1, name, length) == 0) {
            w->in.taken |= 1u << i;
            return true;
        }
    }
    return false;
}

pkb_ptx_type pkb_ptx_take_type(pkb_ptx_writer *w)
{
    for (uint32_t i = 0; i < w->in.modifier_count; i++) {
        pkb_ptx_type type = pkb_ptx_type_of(w->in.modifiers[i]);
        if (type == PKB_PTX_NO_TYPE || (w->in.taken >> i & 1) != 0)
            continue;
        w->in.taken |= 1u << i;
        return type;
    }
    return PKB_PTX_NO_TYPE;
}

void pkb_ptx_ignore_modifiers(pkb_ptx_writer *w)
{
    w->in.taken = UINT32_MAX;
}

bool pkb_ptx_all_taken(const pkb_ptx_writer *w)
{
    for (uint32_t i = 0; i < w->in.modifier_count; i++)
        if ((w->in.taken >> i & 1) == 0)
            return false;
    return true;
}

const pkb_ptx_operand *pkb_ptx_get(const pkb_ptx_writer *w, uint32_t index)
{
    static const pkb_ptx_operand missing = {.kind = PKB_PTX_OPERAND_UNKNOWN};
    return index < w->in.operand_count ? &w->in.parts[w->in.operands[index]] : &missing;
}

void pkb_ptx_set_types(pkb_ptx_writer *w, pkb_ptx_type type)
{
    for (uint32_t i = 0; i < PKB_PTX_MAX_OPERANDS; i++)
        w->in.types[i] = type;
}

static void put_register_name(pkb_ptx_writer *w, const pkb_ptx_operand *operand)
{
    const pkb_ptx_symbol *symbol = &w->symbols[operand->symbol];
    char prefix[16] = "v_";
    if (symbol->scope != 0)
        snprintf(prefix, sizeof prefix, "v%u_", symbol->scope);
    pkb_ptx_put_name(&w->body, prefix, symbol->name);
    if (symbol->kind == PKB_PTX_SYMBOL_RANGE)
        pkb_buf_printf(&w->body, "%u", operand->number);
}

static void put_register(pkb_ptx_writer *w, const pkb_ptx_operand *operand, pkb_ptx_type type)
{
    pkb_ptx_type held = w->symbols[operand->symbol].type;
    unsigned bits = pkb_ptx_type_bits(type);

    if (held == type) {
        put_register_name(w, operand);
        return;
    }
    if (type == PKB_PTX_F32 || type == PKB_PTX_F64) {
        pkb_buf_printf(&w->body, "pkb_f%u(", bits);
    } else if (type == PKB_PTX_PRED) {
        pkb_buf_append_string(&w->body, "0!=(");
    } else {
        bool is_same = pkb_ptx_type_bits(held) == bits && !pkb_ptx_type_is_signed(type) &&
                       held != PKB_PTX_F32 && held != PKB_PTX_F64;
        pkb_buf_printf(&w->body, is_same ? "(" : "(%s)(", pkb_ptx_type_in_c(type));
    }
    if (held == PKB_PTX_F32 || held == PKB_PTX_F64) {
        pkb_buf_printf(&w->body, "pkb_b%u(", pkb_ptx_type_bits(held));
        put_register_name(w, operand);
        pkb_buf_append_string(&w->body, ")");
    } else {
        put_register_name(w, operand);
    }
    pkb_buf_append_string(&w->body, ")");
}

static void put_bits(pkb_ptx_writer *w, uint64_t bits, pkb_ptx_type type)
{
    unsigned width = pkb_ptx_type_bits(type);
    unsigned long long value = width < 64 ? bits & ((UINT64_C(1) << width) - 1) : bits;

    if (type == PKB_PTX_F32 || type == PKB_PTX_F64)
        pkb_buf_printf(&w->body, "pkb_f%u(0x%llx%s)", width, value, width == 32 ? "u" : "ull");
    else if (type == PKB_PTX_PRED)
        pkb_buf_printf(&w->body, "%d", bits != 0);
    else if (width <= 32 && !pkb_ptx_type_is_signed(type))
        pkb_buf_printf(&w->body, "0x%llxu", value);
    else if (width < 64)
        pkb_buf_printf(&w->body, "(%s)0x%llxu", pkb_ptx_type_in_c(type), value);
    else
        pkb_buf_printf(&w->body, "(%s)0x%llxull", pkb_ptx_type_in_c(type), value);
}

static uint64_t bits_of_double(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static uint64_t bits_of_float(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static void put_number(pkb_ptx_writer *w, const pkb_ptx_operand *operand, pkb_ptx_type type)
{
    uint64_t bits = operand->bits;
    uint32_t low = (uint32_t)bits;
    float as_float;
    double as_double;

    memcpy(&as_float, &low, sizeof as_float);
    memcpy(&as_double, &bits, sizeof as_double);
    if (operand->kind == PKB_PTX_OPERAND_FLOAT32 && type == PKB_PTX_F64)
        bits = bits_of_double((double)as_float);
    else if (operand->kind == PKB_PTX_OPERAND_FLOAT64 && type == PKB_PTX_F32)
        bits = bits_of_float((float)as_double);
    else if (operand->kind == PKB_PTX_OPERAND_INTEGER && type == PKB_PTX_F32)
        bits = bits_of_float((float)(int64_t)bits);
    else if (operand->kind == PKB_PTX_OPERAND_INTEGER && type == PKB_PTX_F64)
        bits = bits_of_double((double)(int64_t)bits);
    put_bits(w, bits, type);
}

static void put_variable(pkb_ptx_writer *w, const pkb_ptx_operand *operand)
{
    const pkb_ptx_variable *variable = &w->module->variables[operand->index];

    if (variable->space != PKB_PTX_SHARED) {
        pkb_buf_append_string(&w->body, "(uint64_t)");
        pkb_ptx_put_variable_name(&w->body, w->module, operand->index);
        w->is_unsupported = w->is_unsupported || (variable->is_extern && variable->bytes == 0);
    } else if (variable->is_extern) {
        pkb_buf_append_string(&w->body, "T->dynamic_shared");
    } else {
        pkb_buf_printf(&w->body, "(T->shared_base+%uu)",
                       variable->shared_offset + PKB_PTX_SHARED_RESERVED_BYTES);
    }
}

static void put_symbol(pkb_ptx_writer *w, const pkb_ptx_operand *operand)
{
    const pkb_ptx_symbol *symbol = &w->symbols[operand->symbol];
    bool is_return = w->function->has_return && symbol->index == 0;

    pkb_buf_append_string(&w->body, "(uint64_t)");
    if (symbol->kind == PKB_PTX_SYMBOL_ARRAY)
        put_register_name(w, operand);
    else if (symbol->kind != PKB_PTX_SYMBOL_PARAM)
        w->is_unsupported = true;
    else if (w->function->is_kernel)
        pkb_buf_printf(&w->body, "(P+%u)", w->function->params[symbol->index].offset);
    else if (is_return)
        pkb_buf_append_string(&w->body, "R");
    else
        pkb_buf_printf(&w->body, "A%u", symbol->index);
}

static void put_plain(pkb_ptx_writer *w, const pkb_ptx_operand *operand, pkb_ptx_type type)
{
    switch (operand->kind) {
    case PKB_PTX_OPERAND_REGISTER:
        put_register(w, operand, type);
        break;
    case PKB_PTX_OPERAND_INTEGER:
    case PKB_PTX_OPERAND_FLOAT32:
    case PKB_PTX_OPERAND_FLOAT64:
        put_number(w, operand, type);
        break;
    case PKB_PTX_OPERAND_VARIABLE:
        put_variable(w, operand);
        break;
    case PKB_PTX_OPERAND_SYMBOL:
        put_symbol(w, operand);
        break;
    case PKB_PTX_OPERAND_FUNCTION:
        pkb_buf_append_string(&w->body, "(uint64_t)");
        pkb_ptx_put_function_name(&w->body, &w->module->functions[operand->index]);
        break;
    case PKB_PTX_OPERAND_SPECIAL:
        w->is_unsupported = !pkb_ptx_put_special(w, operand) || w->is_unsupported;
        break;
    case PKB_PTX_OPERAND_SINK:
    case PKB_PTX_OPERAND_VECTOR:
    case PKB_PTX_OPERAND_ADDRESS:
    case PKB_PTX_OPERAND_LIST:
    case PKB_PTX_OPERAND_UNKNOWN:
        w->is_unsupported = true;
        break;
    }
}

void pkb_ptx_put_operand(pkb_ptx_writer *w, const pkb_ptx_operand *operand, pkb_ptx_type type)
{
    bool is_address = operand->kind == PKB_PTX_OPERAND_VARIABLE ||
                      operand->kind == PKB_PTX_OPERAND_SYMBOL ||
                      operand->kind == PKB_PTX_OPERAND_FUNCTION;

    if (operand->is_negated)
        pkb_buf_append_string(&w->body, "!");
    if (is_address)
        pkb_buf_printf(&w->body, "(%s)(", pkb_ptx_type_in_c(type));
    put_plain(w, operand, type);
    if (is_address)
        pkb_buf_printf(&w->body, "+0x%llxull)", (unsigned long long)operand->offset);
}

static void put_value(pkb_ptx_writer *w, const pkb_ptx_operand *operand, pkb_ptx_type type)
{
    bool is_flushed = w->in.is_flushing && type != PKB_PTX_F64 && pkb_ptx_type_is_float(type);
    if (is_flushed)
        pkb_buf_printf(&w->body, "pkb_ftz_%s(", pkb_ptx_type_name(type));
    pkb_ptx_put_operand(w, operand, type);
    if (is_flushed)
        pkb_buf_append_string(&w->body, ")");
}

void pkb_ptx_put(pkb_ptx_writer *w, const char *template)
{
    const char *from = template;
    for (const char *at = template; *at != '\0'; at++) {
        if (at[0] != '$' || at[1] < '0' || at[1] > '9')
            continue;
        uint32_t index = (uint32_t)(at[1] - '0');
        pkb_buf_append(&w->body, from, (size_t)(at - from));
        put_value(w, pkb_ptx_get(w, index), w->in.types[index]);
        from = at + 2;
        at++;
    }
    pkb_buf_append_string(&w->body, from);
}

void pkb_ptx_open_assignment(pkb_ptx_writer *w, const pkb_ptx_operand *operand, pkb_ptx_type type)
{
    if (operand->kind == PKB_PTX_OPERAND_SINK) {
        pkb_buf_append_string(&w->body, "(void)((");
        return;
    }
    if (operand->kind != PKB_PTX_OPERAND_REGISTER) {
        w->is_unsupported = true;
        return;
    }
    pkb_ptx_type held = w->symbols[operand->symbol].type;
    put_register_name(w, operand);
    if (held == type || held == PKB_PTX_PRED)
        pkb_buf_append_string(&w->body, "=((");
    else if (type == PKB_PTX_F32 || type == PKB_PTX_F64)
        pkb_buf_printf(&w->body, held == PKB_PTX_F32 || held == PKB_PTX_F64 ? "=((" : "=(pkb_b%u(",
                       pkb_ptx_type_bits(type));
    else if (held == PKB_PTX_F32 || held == PKB_PTX_F64)
        pkb_buf_printf(&w->body, "=pkb_f%u((uint%u_t)(", pkb_ptx_type_bits(held),
                       pkb_ptx_type_bits(held));
    else
        pkb_buf_printf(&w->body, "=(%s)((", pkb_ptx_type_in_c(type));
}

void pkb_ptx_close_assignment(pkb_ptx_writer *w)
{
    pkb_buf_append_string(&w->body, "));");
}

void pkb_ptx_assign(pkb_ptx_writer *w, uint32_t index, pkb_ptx_type type, const char *template)
{
    pkb_ptx_open_assignment(w, pkb_ptx_get(w, index), type);
    pkb_ptx_put(w, template);
    pkb_ptx_close_assignment(w);
}

void pkb_ptx_put_address(pkb_ptx_writer *w, const pkb_ptx_operand *address)
{
    if (address->kind != PKB_PTX_OPERAND_ADDRESS || address->part_count != 1) {
        w->is_unsupported = true;
        return;
    }
    const pkb_ptx_operand *base = &w->in.parts[address->part];
    pkb_ptx_put_operand(w, base, PKB_PTX_U64);
    if (base->offset != 0 && base->kind == PKB_PTX_OPERAND_REGISTER)
        pkb_buf_printf(&w->body, "+0x%llxull", (unsigned long long)base->offset);
}
