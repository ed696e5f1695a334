/* SPDX-License-Identifier: Apache-2.0
 *
 * Heads of functions; see signature.h.
 */
#include "harness/cpu/translator/signature.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_PARAMS = 4096, MAX_ALIGN = 1 << 12, MAX_THREADS = 1 << 16 };

/* The alignment behind `.ptr` is that of what the pointer points to. */
static uint32_t read_align(pkb_ptx_cursor *cursor)
{
    uint64_t align = pkb_ptx_expect_integer(cursor, MAX_ALIGN);
    if (align == 0 || (align & (align - 1)) != 0) {
        pkb_ptx_fail(cursor, "alignment is not a power of two");
        return 1;
    }
    return (uint32_t)align;
}

pkb_ptx_param pkb_ptx_param_read(pkb_ptx_cursor *cursor, uint64_t limit_bytes)
{
    pkb_ptx_param param = {0};
    pkb_ptx_type type = PKB_PTX_NO_TYPE;
    uint32_t lanes = 1;
    bool is_pointer = false;

    while (pkb_ptx_peek(cursor)->kind == PKB_PTX_DOT) {
        const pkb_ptx_token *token = pkb_ptx_next(cursor);
        if (pkb_ptx_token_is(token, ".align")) {
            uint32_t align = read_align(cursor);
            param.align = is_pointer ? param.align : align;
        } else if (pkb_ptx_token_is(token, ".ptr")) {
            is_pointer = true;
        } else if (pkb_ptx_token_is(token, ".v2") || pkb_ptx_token_is(token, ".v4")) {
            lanes = token->text[2] == '2' ? 2 : 4;
        } else if (pkb_ptx_type_of(token) != PKB_PTX_NO_TYPE) {
            type = pkb_ptx_type_of(token);
        }
    }
    uint64_t bytes = (uint64_t)pkb_ptx_type_bits(type) / 8 * lanes;
    if (param.align == 0)
        param.align = (uint32_t)bytes;
    param.name = pkb_ptx_expect_word(cursor);
    while (pkb_ptx_accept(cursor, "[")) {
        if (pkb_ptx_peek(cursor)->kind == PKB_PTX_INTEGER)
            bytes *= pkb_ptx_expect_integer(cursor, limit_bytes);
        pkb_ptx_expect(cursor, "]");
        if (bytes > limit_bytes) {
            pkb_ptx_fail(cursor, "parameter or local array is too large");
            bytes = 0;
        }
    }
    param.bytes = (uint32_t)bytes;
    return param;
}

static void add_param(pkb_ptx_cursor *cursor, pkb_ptx_function *function, size_t *capacity)
{
    if (!pkb_ptx_make_room(cursor, (void **)&function->params, function->param_count, capacity,
                           sizeof *function->params))
        return;
    if (!pkb_ptx_accept(cursor, ".param"))
        pkb_ptx_fail(cursor, "expected .param");
    pkb_ptx_param param = pkb_ptx_param_read(cursor, PKB_PTX_MAX_PARAM_BYTES);
    param.offset = (function->param_bytes + param.align - 1) & ~(param.align - 1);
    function->param_bytes = param.offset + param.bytes;
    function->params[function->param_count++] = param;
    if (function->param_count > MAX_PARAMS ||
        function->param_bytes > MAX_PARAMS * PKB_PTX_MAX_PARAM_BYTES / 8)
        pkb_ptx_fail(cursor, "too many parameters");
}

static void read_params(pkb_ptx_cursor *cursor, pkb_ptx_function *function, size_t *capacity)
{
    if (!pkb_ptx_accept(cursor, "("))
        return;
    if (pkb_ptx_accept(cursor, ")"))
        return;
    do
        add_param(cursor, function, capacity);
    while (pkb_ptx_accept(cursor, ",") && !pkb_ptx_is_at_end(cursor));
    pkb_ptx_expect(cursor, ")");
}

static void read_dims(pkb_ptx_cursor *cursor, uint32_t dims[3])
{
    dims[0] = dims[1] = dims[2] = 1;
    dims[0] = (uint32_t)pkb_ptx_expect_integer(cursor, MAX_THREADS);
    for (int i = 1; i < 3 && pkb_ptx_accept(cursor, ","); i++)
        dims[i] = (uint32_t)pkb_ptx_expect_integer(cursor, MAX_THREADS);
}

static uint32_t thread_product(const uint32_t dims[3])
{
    uint64_t product = (uint64_t)dims[0] * dims[1] * dims[2];
    return product > MAX_THREADS ? MAX_THREADS : (uint32_t)product;
}

/* Launch bounds between head and body. */
static void read_bounds(pkb_ptx_cursor *cursor, pkb_ptx_function *function)
{
    uint32_t dims[3];
    while (pkb_ptx_peek(cursor)->kind == PKB_PTX_DOT) {
        const pkb_ptx_token *token = pkb_ptx_next(cursor);
        if (pkb_ptx_token_is(token, ".maxntid") || pkb_ptx_token_is(token, ".reqntid")) {
            read_dims(cursor, dims);
            function->max_threads = thread_product(dims);
        } else if (pkb_ptx_token_is(token, ".reqnctapercluster")) {
            read_dims(cursor, function->cluster);
        } else if (pkb_ptx_token_is(token, ".maxnreg")) {
            function->max_registers = (uint32_t)pkb_ptx_expect_integer(cursor, MAX_THREADS);
        } else if (pkb_ptx_token_is(token, ".minnctapersm")) {
            function->min_blocks = (uint32_t)pkb_ptx_expect_integer(cursor, MAX_THREADS);
        } else if (pkb_ptx_token_is(token, ".pragma")) {
            pkb_ptx_skip_past(cursor, ";");
        } else if (pkb_ptx_peek(cursor)->kind == PKB_PTX_INTEGER) {
            pkb_ptx_next(cursor);
        }
    }
}

/* A later definition replaces an earlier declaration of the same name. */
static void add_function(pkb_ptx_module *module, pkb_ptx_function *function)
{
    pkb_ptx_cursor *cursor = &module->cursor;
    long known = pkb_ptx_module_find_function(module, function->name);

    if (known != PKB_PTX_NO_INDEX) {
        pkb_ptx_function *old = &module->functions[known];
        if (old->has_body || !function->has_body) {
            if (function->has_body)
                pkb_ptx_fail(cursor, "function defined twice");
            free(function->params);
            return;
        }
        free(old->params);
        *old = *function;
        return;
    }
    if (!pkb_ptx_make_room(cursor, (void **)&module->functions, module->function_count,
                           &module->function_capacity, sizeof *module->functions)) {
        free(function->params);
        return;
    }
    if (pkb_ptx_name_map_put(&module->function_names, function->name->text, function->name->length,
                             0, (uint32_t)module->function_count) != PKB_OK)
        pkb_ptx_fail_memory(cursor);
    module->functions[module->function_count++] = *function;
}

void pkb_ptx_function_read(pkb_ptx_module *module, bool is_kernel)
{
    pkb_ptx_cursor *cursor = &module->cursor;
    pkb_ptx_function function = {0};
    size_t capacity = 0;

    function.is_kernel = is_kernel;
    if (pkb_ptx_accept(cursor, ".attribute"))
        pkb_ptx_skip_past(cursor, ")");
    if (!is_kernel && pkb_ptx_token_is(pkb_ptx_peek(cursor), "(")) {
        read_params(cursor, &function, &capacity);
        function.has_return = function.param_count > 0;
        if (function.param_count > 1)
            pkb_ptx_fail(cursor, "more than one return value");
    }
    function.name = pkb_ptx_expect_word(cursor);
    read_params(cursor, &function, &capacity);
    read_bounds(cursor, &function);
    if (pkb_ptx_accept(cursor, "{")) {
        function.has_body = true;
        function.body = cursor->at;
        pkb_ptx_skip_braces(cursor);
        function.body_end = cursor->at - 1;
    } else {
        pkb_ptx_expect(cursor, ";");
    }
    if (cursor->rc != PKB_OK) {
        free(function.params);
        return;
    }
    add_function(module, &function);
}
