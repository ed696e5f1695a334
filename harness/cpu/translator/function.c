/* SPDX-License-Identifier: Apache-2.0
 *
 * One function body in two passes over its tokens: the first learns registers, arrays and labels
 * of each scope, the second writes C. Both number the scopes alike. PTX scopes become name
 * prefixes, because labels of inlined assembly repeat and C has no scopes for them.
 */
#include "harness/cpu/translator/function.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/cpu/translator/location.h"
#include "harness/cpu/translator/signature.h"
#include "harness/cpu/translator/writer.h"

enum { MAX_DEPTH = 64, MAX_REGISTERS = 1 << 20, MAX_LOCAL_BYTES = 1 << 24 };

void pkb_ptx_function_put_head(pkb_buf *out, const pkb_ptx_function *function)
{
    pkb_buf_append_string(out, "static void ");
    pkb_ptx_put_function_name(out, function);
    pkb_buf_append_string(out, "(pkb_thread *T");
    if (function->is_kernel) {
        pkb_buf_append_string(out, ",const uint8_t *P)");
        return;
    }
    pkb_buf_append_string(out, ",uint8_t *R");
    for (uint32_t i = function->has_return; i < function->param_count; i++)
        pkb_buf_printf(out, ",uint8_t *A%u", i);
    pkb_buf_append_string(out, ")");
}

static pkb_ptx_symbol *add_symbol(pkb_ptx_writer *w, pkb_ptx_symbol_kind kind,
                                  const pkb_ptx_token *name)
{
    static pkb_ptx_symbol nowhere;
    uint32_t known;

    if (pkb_ptx_name_map_get(&w->symbol_names, name->text, name->length, w->scope, &known))
        pkb_ptx_fail(&w->cursor, "name declared twice");
    else if (pkb_ptx_name_map_put(&w->symbol_names, name->text, name->length, w->scope,
                                  (uint32_t)w->symbol_count) != PKB_OK)
        pkb_ptx_fail_memory(&w->cursor);
    if (w->cursor.rc != PKB_OK ||
        !pkb_ptx_make_room(&w->cursor, (void **)&w->symbols, w->symbol_count, &w->symbol_capacity,
                           sizeof *w->symbols))
        return &nowhere;
    pkb_ptx_symbol *symbol = &w->symbols[w->symbol_count++];
    memset(symbol, 0, sizeof *symbol);
    symbol->kind = kind;
    symbol->name = name;
    symbol->scope = w->scope;
    return symbol;
}

static void declare_registers(pkb_ptx_writer *w)
{
    pkb_ptx_type type = PKB_PTX_NO_TYPE;
    while (pkb_ptx_peek(&w->cursor)->kind == PKB_PTX_DOT)
        type = pkb_ptx_type_of(pkb_ptx_next(&w->cursor));
    if (type == PKB_PTX_NO_TYPE) {
        pkb_ptx_fail(&w->cursor, "register type not known");
        return;
    }
    /* Only their width matters, except that floats live in vector registers. */
    if (type != PKB_PTX_PRED && type != PKB_PTX_F32 && type != PKB_PTX_F64)
        type = pkb_ptx_type_as_bits(type);
    do {
        const pkb_ptx_token *name = pkb_ptx_expect_word(&w->cursor);
        pkb_ptx_symbol *symbol = add_symbol(w, PKB_PTX_SYMBOL_REGISTER, name);
        symbol->type = type;
        if (pkb_ptx_accept(&w->cursor, "<")) {
            symbol->kind = PKB_PTX_SYMBOL_RANGE;
            symbol->index = (uint32_t)pkb_ptx_expect_integer(&w->cursor, MAX_REGISTERS);
            w->register_count += symbol->index;
            pkb_ptx_expect(&w->cursor, ">");
        }
    } while (pkb_ptx_accept(&w->cursor, ","));
    if (w->register_count > MAX_REGISTERS)
        pkb_ptx_fail(&w->cursor, "too many registers");
    pkb_ptx_expect(&w->cursor, ";");
}

static void declare_array(pkb_ptx_writer *w)
{
    pkb_ptx_param array = pkb_ptx_param_read(&w->cursor, MAX_LOCAL_BYTES);
    if (array.name->kind != PKB_PTX_WORD)
        return;
    pkb_ptx_symbol *symbol = add_symbol(w, PKB_PTX_SYMBOL_ARRAY, array.name);
    symbol->bytes = array.bytes;
    symbol->align = array.align;
    pkb_ptx_expect(&w->cursor, ";");
}

static void enter_scope(pkb_ptx_writer *w, bool is_first_pass)
{
    if (++w->depth > MAX_DEPTH)
        pkb_ptx_fail(&w->cursor, "scopes nested too deeply");
    if (is_first_pass) {
        if (!pkb_ptx_make_room(&w->cursor, (void **)&w->scope_parents, w->scope_count,
                               &w->scope_capacity, sizeof *w->scope_parents))
            return;
        w->scope_parents[w->scope_count] = w->scope;
    }
    w->scope = (uint32_t)w->scope_count++;
}

static void leave_scope(pkb_ptx_writer *w)
{
    if (w->depth == 0) {
        pkb_ptx_fail(&w->cursor, "unexpected '}'");
        return;
    }
    w->depth--;
    w->scope = w->scope_parents[w->scope];
}

static void define_label(pkb_ptx_writer *w, const pkb_ptx_token *name)
{
    pkb_ptx_symbol *symbol = pkb_ptx_find_symbol(w, name);
    if (symbol == NULL || symbol->kind != PKB_PTX_SYMBOL_LABEL)
        return;
    symbol->is_defined = true;
    symbol->wait_mark = w->wait_count;
    pkb_buf_printf(&w->body, "L%u:;\n", (uint32_t)(symbol - w->symbols));
    pkb_ptx_location_forget(w);
}

/* Behind `name:`, a label or a declaration in label's clothes. */
static void read_label(pkb_ptx_writer *w, const pkb_ptx_token *name, bool is_first_pass)
{
    bool is_targets = pkb_ptx_accept(&w->cursor, ".branchtargets");
    bool is_other = !is_targets && (pkb_ptx_accept(&w->cursor, ".callprototype") ||
                                    pkb_ptx_accept(&w->cursor, ".calltargets"));
    size_t first = w->cursor.at;

    if (is_targets || is_other)
        pkb_ptx_skip_past(&w->cursor, ";");
    if (is_first_pass && is_targets)
        add_symbol(w, PKB_PTX_SYMBOL_TARGETS, name)->targets = first;
    else if (is_first_pass && !is_other)
        add_symbol(w, PKB_PTX_SYMBOL_LABEL, name);
    else if (!is_targets && !is_other)
        define_label(w, name);
}

static void read_instruction(pkb_ptx_writer *w, bool is_first_pass)
{
    const pkb_ptx_operand *predicate = NULL;
    uint32_t part;

    if (is_first_pass) {
        pkb_ptx_skip_past(&w->cursor, ";");
        return;
    }
    w->in.part_count = 1;
    if (pkb_ptx_accept(&w->cursor, "@")) {
        pkb_ptx_operand_read(w, &part, 0);
        predicate = &w->in.parts[part];
    }
    const pkb_ptx_token *opcode = pkb_ptx_expect_word(&w->cursor);
    const pkb_ptx_cursor operands = w->cursor;
    pkb_ptx_instruction_read(w, opcode);
    if (w->cursor.rc == PKB_OK) {
        pkb_ptx_instruction_write(w, predicate);
    } else if (operands.rc == PKB_OK && w->cursor.rc == PKB_ERR_FORMAT) {
        /* ptxas took it, so only running it is a failure. */
        w->cursor = operands;
        pkb_ptx_skip_past(&w->cursor, ";");
        pkb_ptx_instruction_write_unsupported(w, predicate);
    }
}

static void read_statement(pkb_ptx_writer *w, bool is_first_pass)
{
    pkb_ptx_cursor *cursor = &w->cursor;
    const pkb_ptx_token *token = pkb_ptx_peek(cursor);
    pkb_ptx_space space;

    if (pkb_ptx_accept(cursor, "{")) {
        enter_scope(w, is_first_pass);
    } else if (pkb_ptx_accept(cursor, "}")) {
        leave_scope(w);
    } else if (pkb_ptx_accept(cursor, ".loc")) {
        pkb_ptx_location_read(w);
    } else if (pkb_ptx_accept(cursor, ".reg")) {
        if (is_first_pass)
            declare_registers(w);
        else
            pkb_ptx_skip_past(cursor, ";");
    } else if (pkb_ptx_space_of(token, &space)) {
        cursor->at++;
        if (is_first_pass && (space == PKB_PTX_LOCAL || space == PKB_PTX_PARAM))
            declare_array(w);
        else
            pkb_ptx_skip_past(cursor, ";");
    } else if (token->kind == PKB_PTX_DOT) {
        pkb_ptx_skip_past(cursor, ";"); /* .pragma */
    } else if (token->kind == PKB_PTX_WORD && pkb_ptx_token_is(token + 1, ":")) {
        cursor->at += 2;
        read_label(w, token, is_first_pass);
    } else if (!pkb_ptx_accept(cursor, ";")) {
        read_instruction(w, is_first_pass);
    }
}

static void run_pass(pkb_ptx_writer *w, bool is_first_pass)
{
    w->cursor.at = w->function->body;
    w->cursor.end = w->function->body_end;
    w->scope = w->depth = 0;
    w->scope_count = 0;
    w->inlining_count = 0;
    memset(&w->place, 0, sizeof w->place);
    pkb_ptx_location_forget(w);
    enter_scope(w, is_first_pass);
    while (!pkb_ptx_is_at_end(&w->cursor))
        read_statement(w, is_first_pass);
    if (w->depth != 1)
        pkb_ptx_fail(&w->cursor, "missing '}'");
}

static void put_register_declaration(pkb_buf *out, const pkb_ptx_symbol *symbol)
{
    char prefix[16] = "v_";
    if (symbol->scope != 0)
        snprintf(prefix, sizeof prefix, "v%u_", symbol->scope);
    const char *separator = pkb_ptx_type_in_c(symbol->type);
    for (uint32_t i = 0; i < symbol->used_count; i++) {
        if (symbol->is_used[i] == 0)
            continue;
        pkb_buf_printf(out, "%s ", separator);
        pkb_ptx_put_name(out, prefix, symbol->name);
        if (symbol->kind == PKB_PTX_SYMBOL_RANGE)
            pkb_buf_printf(out, "%u", i);
        pkb_buf_append_string(out, "=0");
        separator = ",";
    }
    if (separator[0] == ',')
        pkb_buf_append_string(out, ";\n");
}

static void put_declarations(const pkb_ptx_writer *w, pkb_buf *out)
{
    for (size_t i = 0; i < w->symbol_count; i++) {
        const pkb_ptx_symbol *symbol = &w->symbols[i];
        if (symbol->kind == PKB_PTX_SYMBOL_REGISTER || symbol->kind == PKB_PTX_SYMBOL_RANGE) {
            put_register_declaration(out, symbol);
        } else if (symbol->kind == PKB_PTX_SYMBOL_ARRAY) {
            char prefix[16] = "v_";
            if (symbol->scope != 0)
                snprintf(prefix, sizeof prefix, "v%u_", symbol->scope);
            pkb_buf_append_string(out, "uint8_t ");
            pkb_ptx_put_name(out, prefix, symbol->name);
            pkb_buf_printf(out, "[%u] PKB_ALIGN(%u);\n", symbol->bytes > 0 ? symbol->bytes : 1,
                           symbol->align);
        }
    }
}

static void add_params(pkb_ptx_writer *w)
{
    for (uint32_t i = 0; i < w->function->param_count; i++) {
        const pkb_ptx_token *name = w->function->params[i].name;
        /* A prototype may leave its parameters unnamed. */
        if (!pkb_ptx_token_is(name, "_"))
            add_symbol(w, PKB_PTX_SYMBOL_PARAM, name)->index = i;
    }
}

static void clear_writer(pkb_ptx_writer *w)
{
    for (size_t i = 0; i < w->symbol_count; i++)
        free(w->symbols[i].is_used);
    free(w->symbols);
    free(w->scope_parents);
    free(w->inlinings);
    pkb_ptx_name_map_clear(&w->symbol_names);
    pkb_buf_clear(&w->body);
    free(w);
}

pkb_code pkb_ptx_function_write(pkb_ptx_module *module, size_t index, pkb_buf *out)
{
    pkb_ptx_writer *w = calloc(1, sizeof *w);
    if (w == NULL) {
        pkb_ptx_fail_memory(&module->cursor);
        return module->cursor.rc;
    }
    w->module = module;
    w->function = &module->functions[index];
    w->function_index = index;
    w->cursor = module->cursor;
    add_params(w);
    run_pass(w, true);
    if (w->cursor.rc == PKB_OK)
        run_pass(w, false);
    pkb_code rc = w->cursor.rc;
    if (rc == PKB_OK &&
        (rc = pkb_buf_check(&w->body, "a function", module->cursor.err)) == PKB_OK) {
        pkb_ptx_function_put_head(out, w->function);
        pkb_buf_append_string(out, "\n{\nPKB_ENTER\n");
        put_declarations(w, out);
        pkb_buf_append(out, pkb_buf_text(&w->body), w->body.bytes);
        pkb_buf_append_string(out, "}\n");
    }
    module->cursor.rc = rc;
    clear_writer(w);
    return rc;
}
