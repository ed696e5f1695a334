/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads an instruction's modifiers and operands and resolves their names; see writer.h.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "harness/cpu/translator/writer.h"

enum { MAX_NESTING = 3 };

static uint32_t new_part(pkb_ptx_writer *w)
{
    /* Part 0 is never a real operand, so that 0 can mean none. */
    if (w->in.part_count == PKB_PTX_MAX_PARTS) {
        pkb_ptx_fail(&w->cursor, "too many operands");
        return 0;
    }
    memset(&w->in.parts[w->in.part_count], 0, sizeof w->in.parts[0]);
    return w->in.part_count++;
}

static pkb_ptx_symbol *find_in_scopes(const pkb_ptx_writer *w, const char *name, uint32_t length)
{
    uint32_t index;
    for (uint32_t scope = w->scope;; scope = w->scope_parents[scope]) {
        if (pkb_ptx_name_map_get(&w->symbol_names, name, length, scope, &index))
            return &w->symbols[index];
        if (scope == 0)
            return NULL;
    }
}

pkb_ptx_symbol *pkb_ptx_find_symbol(const pkb_ptx_writer *w, const pkb_ptx_token *name)
{
    return find_in_scopes(w, name->text, name->length);
}

static bool mark_used(pkb_ptx_writer *w, pkb_ptx_symbol *symbol, uint32_t number)
{
    if (number >= symbol->used_count) {
        uint32_t count = number < 32 ? 64 : number * 2;
        uint8_t *used = realloc(symbol->is_used, count);
        if (used == NULL) {
            pkb_ptx_fail_memory(&w->cursor);
            return false;
        }
        memset(used + symbol->used_count, 0, count - symbol->used_count);
        symbol->is_used = used;
        symbol->used_count = count;
    }
    symbol->is_used[number] = 1;
    return true;
}

/* %r12 of a range %r<100>: the name without its digits is the range's. */
static bool resolve_range(pkb_ptx_writer *w, pkb_ptx_operand *operand)
{
    const pkb_ptx_token *token = operand->token;
    uint32_t length = token->length;
    uint64_t number = 0, scale = 1;

    while (length > 1 && isdigit((unsigned char)token->text[length - 1]) && scale < 10000000) {
        number += scale * (uint64_t)(token->text[--length] - '0');
        scale *= 10;
        bool has_leading_zero = token->text[length] == '0' && length + 1 < token->length;
        pkb_ptx_symbol *symbol = has_leading_zero ? NULL : find_in_scopes(w, token->text, length);
        if (symbol == NULL || symbol->kind != PKB_PTX_SYMBOL_RANGE || number >= symbol->index)
            continue;
        operand->kind = PKB_PTX_OPERAND_REGISTER;
        operand->symbol = (uint32_t)(symbol - w->symbols);
        operand->number = (uint32_t)number;
        return mark_used(w, symbol, operand->number);
    }
    return false;
}

static bool resolve_symbol(pkb_ptx_writer *w, pkb_ptx_operand *operand)
{
    pkb_ptx_symbol *symbol = pkb_ptx_find_symbol(w, operand->token);
    if (symbol == NULL || symbol->kind == PKB_PTX_SYMBOL_RANGE)
        return false;
    operand->symbol = (uint32_t)(symbol - w->symbols);
    operand->kind = PKB_PTX_OPERAND_SYMBOL;
    if (symbol->kind == PKB_PTX_SYMBOL_REGISTER) {
        operand->kind = PKB_PTX_OPERAND_REGISTER;
        mark_used(w, symbol, 0);
    }
    return true;
}

static void resolve(pkb_ptx_writer *w, pkb_ptx_operand *operand)
{
    const pkb_ptx_token *token = operand->token;
    long index;

    if (pkb_ptx_token_is(token, "_")) {
        operand->kind = PKB_PTX_OPERAND_SINK;
    } else if (resolve_range(w, operand) || resolve_symbol(w, operand)) {
        return;
    } else if ((index = pkb_ptx_module_find_variable(w->module, token, w->function_index)) !=
               PKB_PTX_NO_INDEX) {
        operand->kind = PKB_PTX_OPERAND_VARIABLE;
        operand->index = (uint32_t)index;
    } else if ((index = pkb_ptx_module_find_function(w->module, token)) != PKB_PTX_NO_INDEX) {
        operand->kind = PKB_PTX_OPERAND_FUNCTION;
        operand->index = (uint32_t)index;
    } else if (token->text[0] == '%') {
        operand->kind = PKB_PTX_OPERAND_SPECIAL;
    } else if (pkb_ptx_token_is(token, "WARP_SZ")) {
        operand->kind = PKB_PTX_OPERAND_INTEGER;
        operand->bits = 32;
    } else {
        operand->kind = PKB_PTX_OPERAND_UNKNOWN;
    }
}

static void read_number(pkb_ptx_cursor *cursor, pkb_ptx_operand *operand, bool is_minus)
{
    const pkb_ptx_token *token = pkb_ptx_next(cursor);

    operand->token = token;
    operand->bits = token->bits;
    switch (token->kind) {
    case PKB_PTX_INTEGER:
        operand->kind = PKB_PTX_OPERAND_INTEGER;
        operand->bits = is_minus ? 0 - token->bits : token->bits;
        break;
    case PKB_PTX_FLOAT32:
        operand->kind = PKB_PTX_OPERAND_FLOAT32;
        operand->bits ^= is_minus ? 0x80000000u : 0;
        break;
    case PKB_PTX_FLOAT64:
        operand->kind = PKB_PTX_OPERAND_FLOAT64;
        operand->bits ^= is_minus ? UINT64_C(1) << 63 : 0;
        break;
    case PKB_PTX_WORD:
    case PKB_PTX_DOT:
    case PKB_PTX_TEXT:
    case PKB_PTX_PUNCTUAL:
    case PKB_PTX_END:
        pkb_ptx_fail(cursor, "expected an operand");
        break;
    }
}

/* Parts of a bracketed operand are collected first: their own parts must not lie between. */
static void read_parts(pkb_ptx_writer *w, uint32_t part, const char *closing, uint32_t depth)
{
    uint32_t collected[160], count = 0;

    if (!pkb_ptx_accept(&w->cursor, closing)) {
        do {
            if (count == sizeof collected / sizeof collected[0]) {
                pkb_ptx_fail(&w->cursor, "too many operands in brackets");
                return;
            }
            pkb_ptx_operand_read(w, &collected[count++], depth + 1);
        } while (pkb_ptx_accept(&w->cursor, ","));
        pkb_ptx_expect(&w->cursor, closing);
    }
    uint32_t first = w->in.part_count;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t copy = new_part(w);
        if (copy == 0)
            return;
        w->in.parts[copy] = w->in.parts[collected[i]];
    }
    w->in.parts[part].part = first;
    w->in.parts[part].part_count = count;
}

static void read_offset(pkb_ptx_writer *w, pkb_ptx_operand *operand)
{
    for (;;) {
        bool is_minus = pkb_ptx_accept(&w->cursor, "-");
        if (!is_minus && !pkb_ptx_accept(&w->cursor, "+"))
            return;
        is_minus ^= pkb_ptx_accept(&w->cursor, "-");
        uint64_t value = pkb_ptx_expect_integer(&w->cursor, UINT64_MAX);
        operand->offset += is_minus ? 0 - value : value;
    }
}

static void read_word(pkb_ptx_writer *w, uint32_t part)
{
    pkb_ptx_operand *operand = &w->in.parts[part];

    operand->token = pkb_ptx_next(&w->cursor);
    resolve(w, operand);
    if (operand->kind == PKB_PTX_OPERAND_SPECIAL && pkb_ptx_peek(&w->cursor)->kind == PKB_PTX_DOT)
        operand->axis = pkb_ptx_next(&w->cursor);
    read_offset(w, operand);
    if (pkb_ptx_accept(&w->cursor, "|")) {
        uint32_t pair = new_part(w);
        w->in.parts[pair].token = pkb_ptx_expect_word(&w->cursor);
        resolve(w, &w->in.parts[pair]);
        w->in.parts[part].pair = pair;
    }
}

void pkb_ptx_operand_read(pkb_ptx_writer *w, uint32_t *out_part, uint32_t depth)
{
    pkb_ptx_cursor *cursor = &w->cursor;
    uint32_t part = new_part(w);
    pkb_ptx_operand *operand = &w->in.parts[part];

    *out_part = part;
    operand->token = pkb_ptx_peek(cursor);
    if (depth > MAX_NESTING) {
        pkb_ptx_fail(cursor, "operands nested too deeply");
    } else if (pkb_ptx_accept(cursor, "{")) {
        operand->kind = PKB_PTX_OPERAND_VECTOR;
        read_parts(w, part, "}", depth);
    } else if (pkb_ptx_accept(cursor, "[")) {
        operand->kind = PKB_PTX_OPERAND_ADDRESS;
        read_parts(w, part, "]", depth);
    } else if (pkb_ptx_accept(cursor, "(")) {
        operand->kind = PKB_PTX_OPERAND_LIST;
        read_parts(w, part, ")", depth);
    } else if (pkb_ptx_accept(cursor, "!")) {
        read_word(w, part);
        w->in.parts[part].is_negated = true;
    } else if (pkb_ptx_accept(cursor, "-")) {
        read_number(cursor, operand, true);
    } else if (pkb_ptx_peek(cursor)->kind == PKB_PTX_WORD) {
        read_word(w, part);
    } else {
        read_number(cursor, operand, false);
    }
}

void pkb_ptx_instruction_read(pkb_ptx_writer *w, const pkb_ptx_token *opcode)
{
    pkb_ptx_instruction *in = &w->in;

    in->opcode = opcode;
    in->modifier_count = in->taken = in->operand_count = 0;
    in->is_flushing = false;
    if (in->part_count == 0)
        in->part_count = 1;
    while (pkb_ptx_peek(&w->cursor)->kind == PKB_PTX_DOT) {
        if (in->modifier_count == PKB_PTX_MAX_MODIFIERS) {
            pkb_ptx_fail(&w->cursor, "too many modifiers");
            return;
        }
        in->modifiers[in->modifier_count++] = pkb_ptx_next(&w->cursor);
    }
    if (pkb_ptx_accept(&w->cursor, ";"))
        return;
    do {
        if (in->operand_count == PKB_PTX_MAX_OPERANDS) {
            pkb_ptx_fail(&w->cursor, "too many operands");
            return;
        }
        pkb_ptx_operand_read(w, &in->operands[in->operand_count++], 0);
    } while (pkb_ptx_accept(&w->cursor, ","));
    pkb_ptx_expect(&w->cursor, ";");
}
