/* SPDX-License-Identifier: Apache-2.0
 *
 * The whole C file: variables, functions, tables; see translator.h.
 */
#include "harness/cpu/translator/translator.h"

#include <ctype.h>
#include <string.h>

#include "harness/cpu/translator/function.h"
#include "harness/cpu/translator/initializer.h"
#include "harness/cpu/translator/layout.h"
#include "harness/cpu/translator/module.h"

static void write_prototypes(const pkb_ptx_module *module, pkb_buf *out)
{
    for (size_t i = 0; i < module->function_count; i++) {
        const pkb_ptx_function *function = &module->functions[i];
        if (!function->has_body && !function->is_address_taken)
            continue;
        pkb_ptx_function_put_head(out, function);
        /* An address that is taken must exist; calling it names the function. */
        if (!function->has_body) {
            pkb_buf_append_string(out, "{PKB_UNSUPPORTED(T,\"call of ");
            pkb_buf_append(out, function->name->text, function->name->length);
            pkb_buf_append_string(out, "\");}\n");
        } else {
            pkb_buf_append_string(out, ";\n");
        }
    }
}

static void put_quoted(pkb_buf *out, const pkb_ptx_token *name)
{
    pkb_buf_append_string(out, "\"");
    pkb_buf_append(out, name->text, name->length);
    pkb_buf_append_string(out, "\"");
}

static size_t write_kernel_params(const pkb_ptx_module *module, pkb_buf *out)
{
    size_t kernels = 0;
    for (size_t i = 0; i < module->function_count; i++) {
        const pkb_ptx_function *function = &module->functions[i];
        if (!function->is_kernel || !function->has_body)
            continue;
        kernels++;
        if (function->param_count == 0)
            continue;
        pkb_buf_printf(out, "static const pkb_param_info params%zu[]={", i);
        for (uint32_t j = 0; j < function->param_count; j++)
            pkb_buf_printf(out, "{%u,%u},", function->params[j].offset, function->params[j].bytes);
        pkb_buf_append_string(out, "};\n");
    }
    return kernels;
}

static void write_kernel(const pkb_ptx_function *function, size_t index, pkb_buf *out)
{
    pkb_buf_append_string(out, "{");
    put_quoted(out, function->name);
    pkb_buf_append_string(out, ",");
    pkb_ptx_put_function_name(out, function);
    if (function->param_count > 0)
        pkb_buf_printf(out, ",params%zu", index);
    else
        pkb_buf_append_string(out, ",0");
    pkb_buf_printf(out, ",%u,%u,%u,%u,%u,%u,%u,{%u,%u,%u},%u},\n", function->param_count,
                   function->param_bytes, function->shared_bytes, function->dynamic_align,
                   function->max_threads, function->max_registers, function->min_blocks,
                   function->cluster[0], function->cluster[1], function->cluster[2],
                   function->stack_bytes);
}

static size_t write_kernels(const pkb_ptx_module *module, pkb_buf *out)
{
    size_t count = write_kernel_params(module, out);
    if (count == 0)
        return 0;
    pkb_buf_append_string(out, "static const pkb_kernel_info kernels[]={\n");
    for (size_t i = 0; i < module->function_count; i++)
        if (module->functions[i].is_kernel && module->functions[i].has_body)
            write_kernel(&module->functions[i], i, out);
    pkb_buf_append_string(out, "};\n");
    return count;
}

static bool is_exported(const pkb_ptx_variable *variable)
{
    return variable->space == PKB_PTX_GLOBAL || variable->space == PKB_PTX_CONST;
}

static size_t write_variables(const pkb_ptx_module *module, pkb_buf *out)
{
    size_t count = 0;
    for (size_t i = 0; i < module->variable_count; i++) {
        const pkb_ptx_variable *variable = &module->variables[i];
        if (!is_exported(variable))
            continue;
        if (count++ == 0)
            pkb_buf_append_string(out, "static const pkb_variable_info variables[]={\n");
        pkb_buf_append_string(out, "{");
        put_quoted(out, variable->name);
        pkb_buf_append_string(out, ",");
        pkb_ptx_put_variable_name(out, module, i);
        pkb_buf_printf(out, ",%llu,%d,%d},\n", (unsigned long long)variable->bytes,
                       variable->is_managed, variable->space == PKB_PTX_CONST);
    }
    if (count > 0)
        pkb_buf_append_string(out, "};\n");
    return count;
}

/* A PTX string as one of C: inline PTX may name files in any way. */
static void put_text(pkb_buf *out, const pkb_ptx_token *text)
{
    pkb_buf_append_string(out, "\"");
    for (uint32_t i = 1; i + 1 < text->length; i++) {
        unsigned char c = (unsigned char)text->text[i];
        if (isalnum(c) || strchr("_-+=,.:/ ()@~", c) != NULL)
            pkb_buf_append_byte(out, (char)c);
        else
            pkb_buf_printf(out, "\\%03o", c);
    }
    pkb_buf_append_string(out, "\"");
}

static void write_files(const pkb_ptx_module *module, pkb_buf *out)
{
    pkb_buf_append_string(out, "static const char *const files[]={\"\",\n");
    for (size_t i = 1; i < module->file_count; i++) {
        const pkb_ptx_token *name = module->files[i].name;
        if (name != NULL)
            put_text(out, name);
        else
            pkb_buf_append_string(out, "\"\"");
        pkb_buf_append_string(out, ",\n");
    }
    pkb_buf_append_string(out, "};\n");
}

static void write_tables(const pkb_ptx_module *module, const pkb_buf *init, pkb_buf *out)
{
    size_t kernels = write_kernels(module, out), variables = write_variables(module, out);
    size_t files = module->file_count > 0 ? module->file_count : 1;

    write_files(module, out);
    if (init->bytes > 0)
        pkb_buf_printf(out, "static void init(void)\n{\n%s}\n", pkb_buf_text(init));
    pkb_buf_printf(out,
                   "const pkb_device_module_info pkb_device_module={PKB_DEVICE_MODULE_VERSION,"
                   "%s,%zu,%s,%zu,files,%zu,%s};\n",
                   kernels > 0 ? "kernels" : "0", kernels, variables > 0 ? "variables" : "0",
                   variables, files, init->bytes > 0 ? "init" : "0");
}

static pkb_code write_module(pkb_ptx_module *module, pkb_buf *out, pkb_error *err)
{
    pkb_buf init;
    pkb_buf_init(&init);
    pkb_buf_append_string(out, "#include \"harness/cpu/device/number.h\"\n"
                               "#include \"harness/cpu/device/access.h\"\n"
                               "#include \"harness/cpu/device/async.h\"\n"
                               "#include \"harness/cpu/device/fragment.h\"\n");
    write_prototypes(module, out);
    pkb_code rc = pkb_ptx_variables_write(module, out, &init);
    for (size_t i = 0; i < module->function_count && rc == PKB_OK; i++)
        if (module->functions[i].has_body)
            rc = pkb_ptx_function_write(module, i, out);
    if (rc == PKB_OK)
        rc = pkb_buf_check(&init, "initialisers", err);
    if (rc == PKB_OK)
        write_tables(module, &init, out);
    pkb_buf_clear(&init);
    return rc == PKB_OK ? pkb_buf_check(out, "the C file", err) : rc;
}

pkb_code pkb_ptx_translate(const char *text, size_t length, pkb_buf *out, pkb_error *err)
{
    pkb_ptx_module module;
    pkb_code rc = pkb_ptx_module_read(&module, text, length, err);
    if (rc == PKB_OK)
        rc = pkb_ptx_layout(&module);
    if (rc == PKB_OK)
        rc = write_module(&module, out, err);
    pkb_ptx_module_clear(&module);
    return rc;
}
