/* SPDX-License-Identifier: Apache-2.0
 *
 * The top level of a PTX file; see module.h. Bodies are skipped here and translated later, when
 * all names are known.
 */
#include "harness/cpu/translator/module.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "harness/cpu/translator/signature.h"

enum { MAX_FILE_NUMBER = 1 << 16 };

bool pkb_ptx_make_room(pkb_ptx_cursor *cursor, void **array, size_t count, size_t *capacity,
                       size_t element_bytes)
{
    if (count < *capacity)
        return true;
    size_t larger = *capacity == 0 ? 16 : *capacity * 2;
    void *moved = realloc(*array, larger * element_bytes);
    if (moved == NULL) {
        pkb_ptx_fail_memory(cursor);
        return false;
    }
    *array = moved;
    *capacity = larger;
    return true;
}

bool pkb_ptx_space_of(const pkb_ptx_token *token, pkb_ptx_space *out)
{
    static const struct {
        const char *name;
        pkb_ptx_space space;
    } names[] = {{".global", PKB_PTX_GLOBAL},      {".shared", PKB_PTX_SHARED},
                 {".param", PKB_PTX_PARAM},        {".local", PKB_PTX_LOCAL},
                 {".const", PKB_PTX_CONST},        {".shared::cta", PKB_PTX_SHARED},
                 {".param::entry", PKB_PTX_PARAM}, {".param::func", PKB_PTX_PARAM}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (token->kind == PKB_PTX_DOT && pkb_ptx_token_is(token, names[i].name)) {
            *out = names[i].space;
            return true;
        }
    return false;
}

long pkb_ptx_module_find_variable(const pkb_ptx_module *module, const pkb_ptx_token *name,
                                  size_t function_index)
{
    uint32_t index;
    if (pkb_ptx_name_map_get(&module->variable_names, name->text, name->length,
                             (uint32_t)function_index + 1, &index) ||
        pkb_ptx_name_map_get(&module->variable_names, name->text, name->length, 0, &index))
        return (long)index;
    return PKB_PTX_NO_INDEX;
}

long pkb_ptx_module_find_function(const pkb_ptx_module *module, const pkb_ptx_token *name)
{
    uint32_t index;
    if (pkb_ptx_name_map_get(&module->function_names, name->text, name->length, 0, &index))
        return (long)index;
    return PKB_PTX_NO_INDEX;
}

void pkb_ptx_put_name(pkb_buf *out, const char *prefix, const pkb_ptx_token *name)
{
    bool is_register = name->length > 0 && name->text[0] == '%';

    pkb_buf_append_string(out, prefix);
    for (uint32_t i = is_register ? 1 : 0; i < name->length; i++) {
        char c = name->text[i];
        if (c == '%')
            pkb_buf_append_string(out, "$p");
        else if (c == '$')
            pkb_buf_append_string(out, "$$");
        else
            pkb_buf_append_byte(out, c);
    }
    /* PTX tells %tmp from tmp. */
    if (!is_register)
        pkb_buf_append_string(out, "$n");
}

void pkb_ptx_put_function_name(pkb_buf *out, const pkb_ptx_function *function)
{
    pkb_ptx_put_name(out, "f_", function->name);
}

void pkb_ptx_put_variable_name(pkb_buf *out, const pkb_ptx_module *module, size_t index)
{
    (void)module;
    pkb_buf_printf(out, "g%zu", index);
}

/* .file 3 "/path/x.cu" [, timestamp, size] */
static void read_file(pkb_ptx_module *module)
{
    pkb_ptx_cursor *cursor = &module->cursor;
    size_t number = pkb_ptx_expect_integer(cursor, MAX_FILE_NUMBER);
    const pkb_ptx_token *name = pkb_ptx_next(cursor);

    if (name->kind != PKB_PTX_TEXT) {
        pkb_ptx_fail(cursor, "expected a file name");
        return;
    }
    while (pkb_ptx_accept(cursor, ","))
        pkb_ptx_next(cursor);
    if (number >= module->file_count) {
        pkb_ptx_file *files = realloc(module->files, (number + 1) * sizeof *files);
        if (files == NULL) {
            pkb_ptx_fail_memory(cursor);
            return;
        }
        memset(files + module->file_count, 0, (number + 1 - module->file_count) * sizeof *files);
        module->files = files;
        module->file_count = number + 1;
    }
    module->files[number].name = name;
}

/* The attempt's sources are the .cu files and what lies beside or below them: a wait that was
 * inlined from a header of ours or of the toolkit is reported where the attempt calls it. */
static bool is_beside(const pkb_ptx_token *file, const pkb_ptx_token *source)
{
    uint32_t folder = source->length;
    while (folder > 0 && source->text[folder - 1] != '/')
        folder--;
    return folder > 1 && file->length > folder && memcmp(file->text, source->text, folder) == 0;
}

static bool is_source(const pkb_ptx_token *file)
{
    return file != NULL && file->length > 5 &&
           memcmp(file->text + file->length - 4, ".cu\"", 4) == 0;
}

static void mark_user_files(pkb_ptx_module *module)
{
    for (size_t i = 0; i < module->file_count; i++) {
        pkb_ptx_file *file = &module->files[i];
        file->is_user = is_source(file->name);
        for (size_t j = 0; j < module->file_count && j < 64 && !file->is_user; j++)
            file->is_user = file->name != NULL && is_source(module->files[j].name) &&
                            is_beside(file->name, module->files[j].name);
    }
}

/* Linkage words say nothing here except .extern: there is one module and no linking. */
static bool skip_linkage(pkb_ptx_cursor *cursor)
{
    bool is_extern = false;
    for (;;) {
        if (pkb_ptx_accept(cursor, ".extern"))
            is_extern = true;
        else if (!pkb_ptx_accept(cursor, ".visible") && !pkb_ptx_accept(cursor, ".weak") &&
                 !pkb_ptx_accept(cursor, ".common"))
            return is_extern;
    }
}

static void read_statement(pkb_ptx_module *module)
{
    pkb_ptx_cursor *cursor = &module->cursor;
    bool is_extern = skip_linkage(cursor);
    const pkb_ptx_token *token = pkb_ptx_peek(cursor);
    pkb_ptx_space space;

    if (pkb_ptx_accept(cursor, ".version") || pkb_ptx_accept(cursor, ".address_size")) {
        pkb_ptx_next(cursor);
    } else if (pkb_ptx_accept(cursor, ".target")) {
        pkb_ptx_next(cursor);
        while (pkb_ptx_accept(cursor, ","))
            pkb_ptx_next(cursor);
    } else if (pkb_ptx_accept(cursor, ".file")) {
        read_file(module);
    } else if (pkb_ptx_accept(cursor, ".section")) {
        pkb_ptx_skip_past(cursor, "{");
        pkb_ptx_skip_braces(cursor);
    } else if (pkb_ptx_accept(cursor, ".pragma") || pkb_ptx_accept(cursor, ".alias")) {
        pkb_ptx_skip_past(cursor, ";");
    } else if (pkb_ptx_accept(cursor, ".entry")) {
        pkb_ptx_function_read(module, true);
    } else if (pkb_ptx_accept(cursor, ".func")) {
        pkb_ptx_function_read(module, false);
    } else if (pkb_ptx_space_of(token, &space)) {
        pkb_ptx_variable_read(module, cursor, 0, is_extern);
    } else if (!pkb_ptx_accept(cursor, ";")) {
        pkb_ptx_fail(cursor, "expected a declaration");
    }
}

pkb_code pkb_ptx_module_read(pkb_ptx_module *module, const char *text, size_t length,
                             pkb_error *err)
{
    memset(module, 0, sizeof *module);
    pkb_code rc = pkb_ptx_tokenize(text, length, &module->tokens, &module->token_count, err);
    if (rc != PKB_OK)
        return rc;
    module->cursor = (pkb_ptx_cursor){module->tokens, 0, module->token_count - 1, PKB_OK, err};
    if (!pkb_ptx_token_is(pkb_ptx_peek(&module->cursor), ".version"))
        pkb_ptx_fail(&module->cursor, "expected .version");
    while (!pkb_ptx_is_at_end(&module->cursor))
        read_statement(module);
    mark_user_files(module);
    return module->cursor.rc;
}

void pkb_ptx_module_clear(pkb_ptx_module *module)
{
    for (size_t i = 0; i < module->function_count; i++) {
        free(module->functions[i].params);
        free(module->functions[i].uses);
    }
    free(module->functions);
    free(module->variables);
    free(module->files);
    free(module->tokens);
    pkb_ptx_name_map_clear(&module->variable_names);
    pkb_ptx_name_map_clear(&module->function_names);
    memset(module, 0, sizeof *module);
}
