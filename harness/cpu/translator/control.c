/* SPDX-License-Identifier: Apache-2.0
 *
 * Branches, calls and what ends a thread; see opcode.h.
 */
#include <string.h>

#include "harness/cpu/translator/location.h"
#include "harness/cpu/translator/opcode.h"

/* A backward branch whose body can wait for another thread gives others a turn now and then. */
static bool put_goto(pkb_ptx_writer *w, const pkb_ptx_symbol *label)
{
    if (label == NULL || label->kind != PKB_PTX_SYMBOL_LABEL)
        return false;
    if (label->is_defined && w->wait_count > label->wait_mark)
        pkb_buf_append_string(&w->body, "PKB_BACK_EDGE;");
    pkb_ptx_printf(w, "goto L%u;", (uint32_t)(label - w->symbols));
    return true;
}

bool pkb_ptx_write_branch(pkb_ptx_writer *w, const char *variant)
{
    const pkb_ptx_operand *target = pkb_ptx_get(w, 0);

    (void)variant;
    pkb_ptx_has(w, "uni");
    return target->kind == PKB_PTX_OPERAND_SYMBOL && put_goto(w, &w->symbols[target->symbol]);
}

/* brx.idx index, targets; */
bool pkb_ptx_write_branch_table(pkb_ptx_writer *w, const char *variant)
{
    const pkb_ptx_operand *list = pkb_ptx_get(w, 1);

    (void)variant;
    pkb_ptx_has(w, "uni");
    if (!pkb_ptx_has(w, "idx") || list->kind != PKB_PTX_OPERAND_SYMBOL ||
        w->symbols[list->symbol].kind != PKB_PTX_SYMBOL_TARGETS)
        return false;
    w->in.types[0] = PKB_PTX_U32;
    pkb_ptx_put(w, "switch($0){");
    size_t at = w->symbols[list->symbol].targets;
    for (uint32_t i = 0; at < w->cursor.end; i++, at += 2) {
        pkb_ptx_printf(w, "case %u:", i);
        if (!put_goto(w, pkb_ptx_find_symbol(w, &w->cursor.tokens[at])))
            return false;
        if (!pkb_ptx_token_is(&w->cursor.tokens[at + 1], ","))
            break;
    }
    pkb_buf_append_string(&w->body, "}");
    return true;
}

typedef struct call {
    const pkb_ptx_operand *result, *callee, *arguments; /* result and arguments may be NULL */
} call;

/* call [(result),] callee [, (arguments)] [, prototype] */
static bool take_call(const pkb_ptx_writer *w, call *out)
{
    uint32_t at = 0;
    memset(out, 0, sizeof *out);
    if (pkb_ptx_get(w, at)->kind == PKB_PTX_OPERAND_LIST)
        out->result = pkb_ptx_get(w, at++);
    if (out->result != NULL && out->result->part_count == 0)
        out->result = NULL;
    out->callee = pkb_ptx_get(w, at++);
    if (pkb_ptx_get(w, at)->kind == PKB_PTX_OPERAND_LIST)
        out->arguments = pkb_ptx_get(w, at);
    return out->result == NULL || out->result->part_count == 1;
}

static uint32_t argument_count(const call *c)
{
    return c->arguments == NULL ? 0 : c->arguments->part_count;
}

/* The bytes of a parameter of the call. */
static void put_bytes(pkb_ptx_writer *w, const pkb_ptx_operand *operand)
{
    if (operand->kind != PKB_PTX_OPERAND_SYMBOL ||
        w->symbols[operand->symbol].kind != PKB_PTX_SYMBOL_ARRAY) {
        w->is_unsupported = true;
        return;
    }
    pkb_buf_append_string(&w->body, "(uint8_t*)");
    pkb_ptx_put_operand(w, operand, PKB_PTX_U64);
}

static void put_arguments(pkb_ptx_writer *w, const call *c)
{
    pkb_buf_append_string(&w->body, "(T,");
    if (c->result != NULL)
        put_bytes(w, &w->in.parts[c->result->part]);
    else
        pkb_buf_append_string(&w->body, "0");
    for (uint32_t i = 0; i < argument_count(c); i++) {
        pkb_buf_append_string(&w->body, ",");
        put_bytes(w, &w->in.parts[c->arguments->part + i]);
    }
    pkb_buf_append_string(&w->body, ");");
}

static bool call_indirect(pkb_ptx_writer *w, const call *c)
{
    pkb_buf_append_string(&w->body, "((void(*)(pkb_thread*,uint8_t*");
    for (uint32_t i = 0; i < argument_count(c); i++)
        pkb_buf_append_string(&w->body, ",uint8_t*");
    pkb_buf_append_string(&w->body, "))");
    pkb_ptx_put_operand(w, c->callee, PKB_PTX_U64);
    pkb_buf_append_string(&w->body, ")");
    put_arguments(w, c);
    return true;
}

/* The device runtime's functions are declared without a body. Digits in a template are the bits
 * of the arguments, read from their parameters in order. */
static bool call_runtime(pkb_ptx_writer *w, const call *c, const pkb_ptx_token *name)
{
    static const struct {
        const char *name, *function;
        int result_bits;
        uint8_t argument_bits[5];
        uint32_t count;
    } rows[] = {{"vprintf", "pkb_vprintf", 32, {64, 64}, 2},
                {"malloc", "pkb_device_malloc", 64, {64}, 1},
                {"free", "pkb_device_free", 0, {64}, 1},
                {"__assertfail", "pkb_assert_fail", 0, {64, 64, 32, 64}, 4}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (!pkb_ptx_token_is(name, rows[i].name) || argument_count(c) < rows[i].count)
            continue;
        bool has_result = rows[i].result_bits != 0 && c->result != NULL;
        if (has_result) {
            pkb_ptx_printf(w, "PKB_PUT(%d,", rows[i].result_bits);
            put_bytes(w, &w->in.parts[c->result->part]);
            pkb_buf_append_string(&w->body, ",0,");
        }
        pkb_ptx_printf(w, "%s(T", rows[i].function);
        for (uint32_t j = 0; j < rows[i].count; j++) {
            pkb_ptx_printf(w, ",PKB_GET(%u,", rows[i].argument_bits[j]);
            put_bytes(w, &w->in.parts[c->arguments->part + j]);
            pkb_buf_append_string(&w->body, ",0)");
        }
        pkb_buf_append_string(&w->body, has_result ? "));" : ");");
        return true;
    }
    return false;
}

bool pkb_ptx_write_call(pkb_ptx_writer *w, const char *variant)
{
    call c;

    (void)variant;
    pkb_ptx_has(w, "uni");
    if (!take_call(w, &c))
        return false;
    pkb_ptx_location_forget(w);
    if (c.callee->kind == PKB_PTX_OPERAND_REGISTER)
        return call_indirect(w, &c);
    if (c.callee->kind != PKB_PTX_OPERAND_FUNCTION)
        return false;
    const pkb_ptx_function *function = &w->module->functions[c.callee->index];
    if (!function->has_body)
        return call_runtime(w, &c, function->name);
    if (function->is_kernel || function->has_return != (c.result != NULL) ||
        function->param_count - function->has_return != argument_count(&c))
        return false;
    pkb_ptx_put_function_name(&w->body, function);
    put_arguments(w, &c);
    return true;
}

/* ret and exit: in a kernel both end the thread */
bool pkb_ptx_write_return(pkb_ptx_writer *w, const char *variant)
{
    pkb_ptx_has(w, "uni");
    pkb_buf_append_string(&w->body, w->function->is_kernel ? "return;" : variant);
    return w->in.operand_count == 0;
}

bool pkb_ptx_write_statement(pkb_ptx_writer *w, const char *variant)
{
    pkb_ptx_ignore_modifiers(w);
    pkb_buf_append_string(&w->body, variant);
    return true;
}

bool pkb_ptx_write_nothing(pkb_ptx_writer *w, const char *variant)
{
    (void)variant;
    pkb_ptx_ignore_modifiers(w);
    return true;
}

/* createpolicy: a policy says nothing here, but its register is read */
bool pkb_ptx_write_zero(pkb_ptx_writer *w, const char *variant)
{
    (void)variant;
    pkb_ptx_ignore_modifiers(w);
    pkb_ptx_assign(w, 0, PKB_PTX_U64, "0");
    return true;
}

bool pkb_ptx_write_nanosleep(pkb_ptx_writer *w, const char *variant)
{
    (void)variant;
    pkb_ptx_set_types(w, pkb_ptx_take_type(w));
    pkb_ptx_put(w, "pkb_nanosleep(T,$0);");
    return true;
}
