/* SPDX-License-Identifier: Apache-2.0
 *
 * Initialisers of variables; see initializer.h.
 */
#include "harness/cpu/translator/initializer.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_NESTING = 8 };

typedef struct filler {
    pkb_ptx_module *module;
    pkb_ptx_cursor cursor;
    const pkb_ptx_variable *variable;
    size_t index;
    uint8_t *bytes;
    uint64_t size; /* of bytes: what the initialiser can fill, perhaps not the whole variable */
    uint64_t at;   /* next byte */
    pkb_buf *init;
} filler;

static void put_element(filler *f, uint64_t bits)
{
    uint32_t element = f->variable->element_bytes > 8 ? 8 : f->variable->element_bytes;
    if (f->at + f->variable->element_bytes > f->size) {
        pkb_ptx_fail(&f->cursor, "initialiser is longer than its variable");
        return;
    }
    memcpy(f->bytes + f->at, &bits, element);
    f->at += f->variable->element_bytes;
}

static void put_target(filler *f, const pkb_ptx_token *name)
{
    long variable = pkb_ptx_module_find_variable(f->module, name, f->module->function_count);
    long function = pkb_ptx_module_find_function(f->module, name);

    if (variable != PKB_PTX_NO_INDEX && f->module->variables[variable].space != PKB_PTX_SHARED)
        pkb_ptx_put_variable_name(f->init, f->module, (size_t)variable);
    else if (function != PKB_PTX_NO_INDEX && f->module->functions[function].has_body)
        pkb_ptx_put_name(f->init, "f_", name);
    else
        pkb_buf_append_string(f->init, "0");
}

/* name, generic(name), name+8, 0xFF00(name+8): the mask picks bytes of the address */
static void put_address(filler *f, uint64_t mask)
{
    pkb_ptx_cursor *cursor = &f->cursor;
    bool is_generic = pkb_ptx_accept(cursor, "generic");
    bool has_parenthesis = pkb_ptx_accept(cursor, "(");

    (void)is_generic;
    const pkb_ptx_token *name = pkb_ptx_expect_word(cursor);
    bool is_inner_generic = has_parenthesis && pkb_ptx_token_is(name, "generic");
    if (is_inner_generic) {
        pkb_ptx_expect(cursor, "(");
        name = pkb_ptx_expect_word(cursor);
        pkb_ptx_expect(cursor, ")");
    }
    uint64_t offset = 0;
    for (int part = 0; part < 2; part++) {
        bool is_minus = pkb_ptx_accept(cursor, "-");
        if (is_minus || pkb_ptx_accept(cursor, "+")) {
            uint64_t value = pkb_ptx_expect_integer(cursor, UINT64_MAX);
            offset += is_minus ? 0 - value : value;
        }
        if (part == 0 && has_parenthesis)
            pkb_ptx_expect(cursor, ")");
    }
    if (cursor->rc != PKB_OK)
        return;
    uint64_t at = f->at;
    put_element(f, 0);
    pkb_buf_printf(f->init, "pkb_put_address(g%zu+%llu,%u,(uint64_t)", f->index,
                   (unsigned long long)at, f->variable->element_bytes);
    put_target(f, name);
    pkb_buf_printf(f->init, "+0x%llxull,0x%llxull);\n", (unsigned long long)offset,
                   (unsigned long long)mask);
}

static uint64_t float_bits(const filler *f, const pkb_ptx_token *token)
{
    double as_double;
    float as_float;
    uint32_t low = (uint32_t)token->bits;
    uint64_t bits = token->bits;

    if (token->kind == PKB_PTX_FLOAT64 && f->variable->type == PKB_PTX_F32) {
        memcpy(&as_double, &bits, sizeof as_double);
        as_float = (float)as_double;
        memcpy(&low, &as_float, sizeof low);
        return low;
    }
    if (token->kind == PKB_PTX_FLOAT32 && f->variable->type == PKB_PTX_F64) {
        memcpy(&as_float, &low, sizeof as_float);
        as_double = (double)as_float;
        memcpy(&bits, &as_double, sizeof bits);
    }
    return bits;
}

static void put_value(filler *f)
{
    pkb_ptx_cursor *cursor = &f->cursor;
    bool is_minus = pkb_ptx_accept(cursor, "-");
    const pkb_ptx_token *token = pkb_ptx_peek(cursor);

    if (token->kind == PKB_PTX_INTEGER) {
        pkb_ptx_next(cursor);
        if (!is_minus && pkb_ptx_token_is(pkb_ptx_peek(cursor), "("))
            put_address(f, token->bits);
        else
            put_element(f, is_minus ? 0 - token->bits : token->bits);
    } else if (token->kind == PKB_PTX_FLOAT32 || token->kind == PKB_PTX_FLOAT64) {
        pkb_ptx_next(cursor);
        uint64_t sign = UINT64_C(1) << (f->variable->type == PKB_PTX_F64 ? 63 : 31);
        put_element(f, float_bits(f, token) ^ (is_minus ? sign : 0));
    } else {
        put_address(f, UINT64_MAX);
    }
}

/* Nested braces fill row by row; a row cut short leaves zeros only at the very end, which is all
 * that nvcc writes. */
static void read_values(filler *f)
{
    int depth = 0;
    do {
        while (pkb_ptx_accept(&f->cursor, "{"))
            depth++;
        if (depth > MAX_NESTING)
            pkb_ptx_fail(&f->cursor, "initialiser nested too deeply");
        if (!pkb_ptx_token_is(pkb_ptx_peek(&f->cursor), "}"))
            put_value(f);
        while (depth > 0 && pkb_ptx_accept(&f->cursor, "}"))
            depth--;
    } while (depth > 0 && pkb_ptx_accept(&f->cursor, ",") && !pkb_ptx_is_at_end(&f->cursor));
    if (depth > 0)
        pkb_ptx_fail(&f->cursor, "missing '}'");
}

/* At most this many: commas also stand in nothing else here. */
static uint64_t count_elements(const pkb_ptx_module *module, const pkb_ptx_variable *variable)
{
    uint64_t count = 1;
    for (size_t i = variable->initializer; i < module->token_count; i++) {
        if (pkb_ptx_token_is(&module->tokens[i], ";"))
            break;
        count += pkb_ptx_token_is(&module->tokens[i], ",");
    }
    return count;
}

static void write_bytes(const filler *f, pkb_buf *out)
{
    uint64_t end = f->size;
    while (end > 0 && f->bytes[end - 1] == 0)
        end--;
    if (end > 0) {
        pkb_buf_append_string(out, "={");
        for (uint64_t i = 0; i < end; i++)
            pkb_buf_printf(out, i % 32 == 31 ? "%u,\n" : "%u,", f->bytes[i]);
        pkb_buf_append_string(out, "}");
    }
}

static void write_variable(pkb_ptx_module *module, size_t index, pkb_buf *out, pkb_buf *init)
{
    const pkb_ptx_variable *variable = &module->variables[index];
    filler f = {module, module->cursor, variable, index, NULL, 0, 0, init};

    pkb_buf_append_string(out, "static uint8_t ");
    pkb_ptx_put_variable_name(out, module, index);
    pkb_buf_printf(out, "[%llu] PKB_ALIGN(%u)",
                   (unsigned long long)(variable->bytes > 0 ? variable->bytes : 1),
                   variable->align);
    if (variable->initializer != 0 && variable->bytes > 0) {
        f.cursor.at = variable->initializer;
        f.size = count_elements(module, variable) * variable->element_bytes;
        f.size = f.size < variable->bytes ? f.size : variable->bytes;
        f.bytes = calloc(1, f.size);
        if (f.bytes == NULL)
            pkb_ptx_fail_memory(&f.cursor);
        else
            read_values(&f);
        if (f.cursor.rc == PKB_OK)
            write_bytes(&f, out);
        free(f.bytes);
        module->cursor.rc = f.cursor.rc;
    }
    pkb_buf_append_string(out, ";\n");
}

pkb_code pkb_ptx_variables_write(pkb_ptx_module *module, pkb_buf *out, pkb_buf *init)
{
    for (size_t i = 0; i < module->variable_count; i++) {
        pkb_ptx_space space = module->variables[i].space;
        if ((space == PKB_PTX_GLOBAL || space == PKB_PTX_CONST) && module->cursor.rc == PKB_OK)
            write_variable(module, i, out, init);
    }
    return module->cursor.rc;
}
