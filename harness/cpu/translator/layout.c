/* SPDX-License-Identifier: Apache-2.0
 *
 * Reachability and shared memory layout; see layout.h.
 */
#include "harness/cpu/translator/layout.h"

#include <stdlib.h>
#include <string.h>

#include "harness/cpu/translator/signature.h"

enum { MAX_SHARED_BYTES = 1 << 28, MAX_LOCAL_BYTES = 1 << 24 };

typedef struct reach {
    pkb_ptx_module *module;
    uint32_t *stamps; /* [functions], then [variables]: the kernel that saw it last, plus 1 */
    uint32_t *stack;  /* [functions] */
    size_t top;
} reach;

static void add_use(pkb_ptx_module *module, pkb_ptx_function *function, uint32_t use)
{
    size_t capacity = function->use_capacity;
    if (!pkb_ptx_make_room(&module->cursor, (void **)&function->uses, function->use_count,
                           &capacity, sizeof *function->uses))
        return;
    function->use_capacity = (uint32_t)capacity;
    function->uses[function->use_count++] = use;
}

/* A directive stands alone; a dotted part of an opcode touches what is before it. */
static bool is_directive(const pkb_ptx_token *token)
{
    const pkb_ptx_token *before = token - 1;
    bool touches = before->text + before->length == token->text;
    return token->kind == PKB_PTX_DOT &&
           !(touches && (before->kind == PKB_PTX_WORD || before->kind == PKB_PTX_DOT));
}

static void scan_directive(pkb_ptx_module *module, size_t index, pkb_ptx_cursor *cursor)
{
    pkb_ptx_space space;
    if (!pkb_ptx_space_of(pkb_ptx_peek(cursor), &space)) {
        if (pkb_ptx_token_is(pkb_ptx_peek(cursor), ".callprototype") ||
            pkb_ptx_token_is(pkb_ptx_peek(cursor), ".calltargets"))
            module->functions[index].has_indirect_call = true;
        pkb_ptx_next(cursor);
    } else if (space == PKB_PTX_LOCAL) {
        pkb_ptx_next(cursor);
        pkb_ptx_param local = pkb_ptx_param_read(cursor, MAX_LOCAL_BYTES);
        module->functions[index].stack_bytes += local.bytes;
        if (module->functions[index].stack_bytes > MAX_LOCAL_BYTES)
            pkb_ptx_fail(cursor, "too much local memory");
    } else if (space == PKB_PTX_PARAM) {
        pkb_ptx_next(cursor);
    } else {
        pkb_ptx_variable_read(module, cursor, (uint32_t)index + 1, false);
    }
}

static void scan_body(pkb_ptx_module *module, size_t index)
{
    pkb_ptx_function *function = &module->functions[index];
    pkb_ptx_cursor cursor = module->cursor;
    bool is_move = false;

    cursor.at = function->body;
    cursor.end = function->body_end;
    while (!pkb_ptx_is_at_end(&cursor)) {
        const pkb_ptx_token *token = pkb_ptx_peek(&cursor);
        if (is_directive(token)) {
            scan_directive(module, index, &cursor);
            continue;
        }
        pkb_ptx_next(&cursor);
        if (pkb_ptx_token_is(token, ";"))
            is_move = false;
        if (token->kind != PKB_PTX_WORD || token->text[0] == '%')
            continue;
        is_move = is_move || pkb_ptx_token_is(token, "mov");
        long variable = pkb_ptx_module_find_variable(module, token, index);
        long callee = pkb_ptx_module_find_function(module, token);
        if (variable != PKB_PTX_NO_INDEX)
            add_use(module, function, (uint32_t)variable * 2);
        if (callee != PKB_PTX_NO_INDEX)
            add_use(module, function, (uint32_t)callee * 2 + 1);
        if (callee != PKB_PTX_NO_INDEX && is_move)
            module->functions[callee].is_address_taken = true;
    }
    if (module->cursor.rc == PKB_OK)
        module->cursor.rc = cursor.rc;
}

static void scan_initializers(pkb_ptx_module *module)
{
    for (size_t i = 0; i < module->variable_count; i++) {
        size_t at = module->variables[i].initializer;
        if (at == 0)
            continue;
        for (; at < module->token_count && !pkb_ptx_token_is(&module->tokens[at], ";"); at++) {
            if (module->tokens[at].kind != PKB_PTX_WORD)
                continue;
            long callee = pkb_ptx_module_find_function(module, &module->tokens[at]);
            if (callee != PKB_PTX_NO_INDEX)
                module->functions[callee].is_address_taken = true;
        }
    }
}

static void push_function(reach *r, uint32_t index, uint32_t stamp)
{
    if (r->stamps[index] == stamp)
        return;
    r->stamps[index] = stamp;
    r->stack[r->top++] = index;
}

/* Calls `visit` once for each shared variable that the kernel reaches; returns the local memory
 * of all functions on the way. */
static uint32_t visit_shared(reach *r, size_t kernel, uint32_t stamp,
                             void (*visit)(pkb_ptx_function *, pkb_ptx_variable *))
{
    pkb_ptx_module *module = r->module;
    uint64_t local_bytes = 0;

    push_function(r, (uint32_t)kernel, stamp);
    while (r->top > 0) {
        pkb_ptx_function *function = &module->functions[r->stack[--r->top]];
        local_bytes += function->is_kernel ? 0 : function->stack_bytes;
        for (uint32_t i = 0; i < function->use_count; i++) {
            uint32_t index = function->uses[i] / 2;
            if (function->uses[i] % 2 == 1) {
                push_function(r, index, stamp);
                continue;
            }
            uint32_t *seen = &r->stamps[module->function_count + index];
            if (*seen != stamp && module->variables[index].space == PKB_PTX_SHARED)
                visit(&module->functions[kernel], &module->variables[index]);
            *seen = stamp;
        }
        for (uint32_t i = 0; function->has_indirect_call && i < module->function_count; i++)
            if (module->functions[i].is_address_taken)
                push_function(r, i, stamp);
    }
    return local_bytes > MAX_LOCAL_BYTES ? MAX_LOCAL_BYTES : (uint32_t)local_bytes;
}

static uint32_t align_up(uint32_t value, uint32_t align)
{
    return (value + align - 1) & ~(align - 1);
}

static void count_user(pkb_ptx_function *kernel, pkb_ptx_variable *variable)
{
    variable->user_count++;
    if (variable->is_extern) {
        if (variable->align > kernel->dynamic_align)
            kernel->dynamic_align = variable->align;
    }
}

static void reach_past_common(pkb_ptx_function *kernel, pkb_ptx_variable *variable)
{
    uint32_t end = variable->shared_offset + (uint32_t)variable->bytes;
    if (!variable->is_extern && variable->user_count > 1 && end > kernel->shared_bytes)
        kernel->shared_bytes = end;
}

static void place_own(pkb_ptx_function *kernel, pkb_ptx_variable *variable)
{
    if (variable->is_extern || variable->user_count > 1 || variable->bytes > MAX_SHARED_BYTES ||
        kernel->shared_bytes > MAX_SHARED_BYTES)
        return;
    variable->shared_offset = align_up(kernel->shared_bytes, variable->align);
    kernel->shared_bytes = variable->shared_offset + (uint32_t)variable->bytes;
}

static void place_common(pkb_ptx_module *module)
{
    uint32_t end = 0;
    for (size_t i = 0; i < module->variable_count; i++) {
        pkb_ptx_variable *variable = &module->variables[i];
        if (variable->space != PKB_PTX_SHARED || variable->is_extern || variable->user_count < 2 ||
            variable->bytes > MAX_SHARED_BYTES || end > MAX_SHARED_BYTES)
            continue;
        variable->shared_offset = align_up(end, variable->align);
        end = variable->shared_offset + (uint32_t)variable->bytes;
    }
}

static void place_all(reach *r)
{
    static void (*const passes[])(pkb_ptx_function *,
                                  pkb_ptx_variable *) = {count_user, reach_past_common, place_own};
    pkb_ptx_module *module = r->module;
    uint32_t stamp = 0;

    for (size_t pass = 0; pass < sizeof passes / sizeof passes[0]; pass++) {
        if (pass == 1)
            place_common(module);
        for (size_t i = 0; i < module->function_count; i++) {
            pkb_ptx_function *function = &module->functions[i];
            if (!function->is_kernel)
                continue;
            uint32_t local_bytes = visit_shared(r, i, ++stamp, passes[pass]);
            if (pass == 0)
                function->stack_bytes += local_bytes;
        }
    }
}

pkb_code pkb_ptx_layout(pkb_ptx_module *module)
{
    reach r = {module, NULL, NULL, 0};

    for (size_t i = 0; i < module->function_count; i++)
        if (module->functions[i].has_body)
            scan_body(module, i);
    scan_initializers(module);
    if (module->cursor.rc != PKB_OK)
        return module->cursor.rc;

    r.stamps = calloc(module->function_count + module->variable_count + 1, sizeof *r.stamps);
    r.stack = calloc(module->function_count + 1, sizeof *r.stack);
    if (r.stamps == NULL || r.stack == NULL)
        pkb_ptx_fail_memory(&module->cursor);
    else
        place_all(&r);
    free(r.stamps);
    free(r.stack);
    return module->cursor.rc;
}
