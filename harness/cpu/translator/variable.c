/* SPDX-License-Identifier: Apache-2.0
 *
 * Declarations of .global, .const and .shared variables; see module.h. Initialisers are written
 * by initializer.c.
 */
#include <stdlib.h>
#include <string.h>

#include "harness/cpu/translator/module.h"

enum { MAX_VARIABLE_ALIGN = 1 << 16 };

/* An array whose first dimension is empty takes its size from the initialiser's commas. */
static uint64_t count_initializers(const pkb_ptx_cursor *cursor)
{
    uint64_t count = 1;
    for (size_t i = cursor->at; i < cursor->end; i++) {
        const pkb_ptx_token *token = &cursor->tokens[i];
        if (pkb_ptx_token_is(token, ","))
            count++;
        else if (pkb_ptx_token_is(token, ";"))
            break;
    }
    return count;
}

static void skip_initializer(pkb_ptx_cursor *cursor)
{
    if (pkb_ptx_accept(cursor, "{")) {
        pkb_ptx_skip_braces(cursor);
        return;
    }
    while (!pkb_ptx_is_at_end(cursor) && !pkb_ptx_token_is(pkb_ptx_peek(cursor), ";") &&
           !pkb_ptx_token_is(pkb_ptx_peek(cursor), ","))
        pkb_ptx_next(cursor);
}

static void read_dims_and_initializer(pkb_ptx_cursor *cursor, pkb_ptx_variable *variable)
{
    bool is_open = false;
    uint64_t bytes = variable->element_bytes;

    while (pkb_ptx_accept(cursor, "[")) {
        if (pkb_ptx_peek(cursor)->kind == PKB_PTX_INTEGER)
            bytes *= pkb_ptx_expect_integer(cursor, PKB_PTX_MAX_VARIABLE_BYTES);
        else
            is_open = true;
        pkb_ptx_expect(cursor, "]");
        if (bytes > PKB_PTX_MAX_VARIABLE_BYTES) {
            pkb_ptx_fail(cursor, "variable is too large");
            bytes = 0;
        }
    }
    variable->bytes = is_open ? 0 : bytes;
    if (pkb_ptx_accept(cursor, "=")) {
        variable->initializer = cursor->at;
        if (is_open)
            variable->bytes = count_initializers(cursor) * variable->element_bytes;
        skip_initializer(cursor);
    }
}

static void read_attributes(pkb_ptx_cursor *cursor, pkb_ptx_variable *variable, bool *is_opaque)
{
    uint32_t lanes = 1;
    while (pkb_ptx_peek(cursor)->kind == PKB_PTX_DOT) {
        const pkb_ptx_token *token = pkb_ptx_next(cursor);
        if (pkb_ptx_token_is(token, ".align")) {
            variable->align = (uint32_t)pkb_ptx_expect_integer(cursor, MAX_VARIABLE_ALIGN);
            if (variable->align == 0 || (variable->align & (variable->align - 1)) != 0)
                pkb_ptx_fail(cursor, "alignment is not a power of two");
        } else if (pkb_ptx_token_is(token, ".attribute")) {
            pkb_ptx_expect(cursor, "(");
            variable->is_managed =
                variable->is_managed || pkb_ptx_token_is(pkb_ptx_peek(cursor), ".managed");
            pkb_ptx_skip_past(cursor, ")");
        } else if (pkb_ptx_token_is(token, ".v2") || pkb_ptx_token_is(token, ".v4")) {
            lanes = token->text[2] == '2' ? 2 : 4;
        } else if (pkb_ptx_type_of(token) != PKB_PTX_NO_TYPE) {
            variable->type = pkb_ptx_type_of(token);
        } else {
            *is_opaque = true; /* .texref, .samplerref, .surfref */
        }
    }
    variable->element_bytes = pkb_ptx_type_bits(variable->type) / 8 * lanes;
    if (variable->align == 0)
        variable->align = variable->element_bytes;
}

static void add_variable(pkb_ptx_module *module, pkb_ptx_cursor *cursor, uint32_t scope,
                         const pkb_ptx_variable *variable)
{
    uint32_t known;
    const pkb_ptx_token *name = variable->name;
    if (pkb_ptx_name_map_get(&module->variable_names, name->text, name->length, scope, &known)) {
        if (module->variables[known].is_extern)
            module->variables[known] = *variable;
        return;
    }
    if (!pkb_ptx_make_room(cursor, (void **)&module->variables, module->variable_count,
                           &module->variable_capacity, sizeof *module->variables))
        return;
    if (pkb_ptx_name_map_put(&module->variable_names, name->text, name->length, scope,
                             (uint32_t)module->variable_count) != PKB_OK)
        pkb_ptx_fail_memory(cursor);
    module->variables[module->variable_count++] = *variable;
}

void pkb_ptx_variable_read(pkb_ptx_module *module, pkb_ptx_cursor *cursor, uint32_t scope,
                           bool is_extern)
{
    pkb_ptx_variable first = {0};
    bool is_opaque = false;

    if (!pkb_ptx_space_of(pkb_ptx_next(cursor), &first.space))
        pkb_ptx_fail(cursor, "expected a state space");
    first.is_extern = is_extern;
    read_attributes(cursor, &first, &is_opaque);
    do {
        pkb_ptx_variable variable = first;
        variable.name = pkb_ptx_expect_word(cursor);
        read_dims_and_initializer(cursor, &variable);
        if (cursor->rc == PKB_OK && !is_opaque)
            add_variable(module, cursor, scope, &variable);
    } while (pkb_ptx_accept(cursor, ",") && !pkb_ptx_is_at_end(cursor));
    if (is_opaque)
        pkb_ptx_skip_past(cursor, ";");
    else
        pkb_ptx_expect(cursor, ";");
}
