/* SPDX-License-Identifier: Apache-2.0
 *
 * Malformed PTX is refused with its line.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/cpu/translator/translator.h"

#define HEAD ".version 9.0\n.target sm_90a\n.address_size 64\n"

static pkb_code translate(const char *text, size_t length, pkb_error *err)
{
    pkb_buf code;
    pkb_buf_init(&code);
    pkb_code rc = pkb_ptx_translate(text, length, &code, err);
    pkb_buf_clear(&code);
    return rc;
}

static void refuse(const char *text, const char *message)
{
    pkb_error err = {0};
    assert_int_equal(translate(text, strlen(text), &err), PKB_ERR_FORMAT);
    if (strstr(err.message, message) == NULL)
        fail_msg("'%s' does not contain '%s'", err.message, message);
}

static void messages_name_the_line_and_the_fault(void **state)
{
    (void)state;
    refuse("", "line 1: expected .version");
    refuse(HEAD "bogus", "line 4: expected a declaration at 'bogus'");
    refuse(HEAD ".entry k(.param .u64 p)\n{ ret;", "missing '}'");
    refuse(HEAD ".entry k()\n{ .reg .b32 %r<99999999>; }", "line 5: expected a number in range");
    refuse(HEAD ".entry k() { }\n.entry k() { }", "function defined twice");
    refuse(HEAD ".entry k() { L: L: ret; }", "name declared twice");
    refuse(HEAD ".global .align 3 .b8 x[4];", "alignment is not a power of two");
    refuse(HEAD ".global .b8 x[4294967296];", "expected a number in range");
    refuse(HEAD ".global .b8 x[2] = {1,2,3};", "longer than its variable");
    refuse(HEAD ".global .b8 x[2] = {1,2;", "missing '}'");
    refuse(HEAD ".file 1 \"abc", "unterminated string");
    refuse(HEAD ".global .u32 x = 0f123;", "malformed number");
    refuse(HEAD ".func (.param .b32 a, .param .b32 b) f() { ret; }", "more than one return");
}

static void expect_code(const char *text, const char *part)
{
    pkb_buf code;
    pkb_error err = {0};
    pkb_buf_init(&code);
    if (pkb_ptx_translate(text, strlen(text), &code, &err) != PKB_OK)
        fail_msg("%s", err.message);
    if (strstr(pkb_buf_text(&code), part) == NULL)
        fail_msg("no '%s' in the translation", part);
    pkb_buf_clear(&code);
}

static void an_instruction_that_is_not_understood_fails_only_where_it_runs(void **state)
{
    (void)state;
    expect_code(HEAD ".entry k()\n{\nadd.u32 %r1 %r2;\nret;\n}", "PKB_UNSUPPORTED(T,\"add.u32 at");
    expect_code(HEAD ".entry k()\n{ .reg .b32 t;\nmov.u32 t, 5*7;\nret; }",
                "PKB_UNSUPPORTED(T,\"mov.u32 at");
}

/* Inline PTX may name a file in any way; nothing of it may act as C. */
static void names_of_files_are_only_names(void **state)
{
    (void)state;
    expect_code(HEAD ".file 1 \"\\xz\"\n.entry k() { ret; }", "\"\\134xz\"");
    expect_code(HEAD ".file 1 \"a\\\"b\"\n.entry k() { ret; }", "\"a\\134\\042b\"");
    expect_code(HEAD ".file 1 \"?\?/%s\"\n.entry k() { ret; }", "\"\\077\\077/\\045s\"");
}

static void deep_nesting_is_refused(void **state)
{
    pkb_buf text;
    pkb_error err = {0};
    (void)state;
    pkb_buf_init(&text);
    pkb_buf_append_string(&text, HEAD ".entry k() {");
    for (int i = 0; i < 100000; i++)
        pkb_buf_append_byte(&text, '{');
    for (int i = 0; i < 100001; i++)
        pkb_buf_append_byte(&text, '}');
    assert_int_equal(translate(text.data, text.bytes, &err), PKB_ERR_FORMAT);
    assert_non_null(strstr(err.message, "nested too deeply"));
    pkb_buf_reset(&text);
    pkb_buf_append_string(&text, HEAD ".entry k() { mov.b32 %r, ");
    for (int i = 0; i < 100000; i++)
        pkb_buf_append_byte(&text, '{');
    pkb_buf_append_string(&text, "; }");
    assert_int_equal(translate(text.data, text.bytes, &err), PKB_ERR_FORMAT);
    pkb_buf_clear(&text);
}

/* Every prefix of a valid file is accepted or refused, and never read past its end. */
static void every_prefix_is_survived(void **state)
{
    static const char text[] =
        HEAD ".global .align 8 .u64 t[2] = {generic(f), 0xFF(t)};\n"
             ".func (.param .b32 r) f(.param .b32 x) { .reg .b32 %r; ld.param.u32 %r, [x];\n"
             "st.param.b32 [r], %r; ret; }\n"
             ".visible .entry k(.param .u64 .ptr .align 4 p) .maxntid 4, 4 { .reg .b64 %l<4>;\n"
             ".reg .pred %p; .shared .align 4 .b8 s[16]; .loc 1 2 3, function_name $x, inlined_at "
             "1 2 3\n"
             "{ .param .b32 a; .param .b32 b; call.uni (b), f, (a); }\n"
             "T: .branchtargets A, B; A: brx.idx 0, T; B: @!%p ld.global.v2.f32 {_, _}, [%l1+-4];\n"
             "mov.b64 %l2, 0d3FF0000000000000; /* x */ ret; } .file 1 \"/a/b.cu\"\n";
    (void)state;
    for (size_t length = 0; length < sizeof text; length++) {
        char *copy = malloc(length + 1);
        pkb_error err = {0};
        assert_non_null(copy);
        memcpy(copy, text, length);
        pkb_code rc = translate(copy, length, &err);
        assert_true(rc == PKB_OK || rc == PKB_ERR_FORMAT);
        free(copy);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_name_the_line_and_the_fault),
        cmocka_unit_test(an_instruction_that_is_not_understood_fails_only_where_it_runs),
        cmocka_unit_test(names_of_files_are_only_names),
        cmocka_unit_test(deep_nesting_is_refused),
        cmocka_unit_test(every_prefix_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
