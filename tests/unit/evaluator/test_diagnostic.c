/* SPDX-License-Identifier: Apache-2.0
 *
 * Tests of evaluator/compile/diagnostic.c: the first error that matters, in one line.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "evaluator/compile/diagnostic.h"

static void expect(const char *text, const char *wanted)
{
    static const char *const prefixes[] = {"/pkb/build", "/pkb/include", "/usr/local/cuda-13.0"};
    const pkb_diagnostic_place place = {
        .source = "mine.cu", .prefixes = prefixes, .prefix_count = 3};
    pkb_buf out = {0};
    pkb_diagnostic_shorten(&out, text, &place);
    assert_string_equal(pkb_buf_text(&out), wanted);
    pkb_buf_clear(&out);
}

static void folders_are_left_out(void **state)
{
    (void)state;
    expect("/pkb/build/mine.cu(4): error: identifier \"x\" is undefined\n      x = 1;\n      ^\n\n"
           "1 error detected in the compilation of \"/pkb/build/mine.cu\".\n",
           "mine.cu(4): error: identifier \"x\" is undefined");
}

static void the_first_of_several_is_shown_and_the_rest_counted(void **state)
{
    (void)state;
    expect("/pkb/build/mine.cu(3): warning #177-D: never referenced\n"
           "/pkb/build/mine.cu(4): error: one\n/pkb/build/mine.cu(9): error: two\n"
           "/pkb/build/mine.cu(10): error: three\n3 errors detected\n",
           "mine.cu(4): error: one (and 2 more)");
}

static void gcc_positions_look_like_those_of_nvcc(void **state)
{
    (void)state;
    expect("/pkb/build/mine.cu:12:10: fatal error: nothing.h: No such file or directory\n"
           "   12 | #include <nothing.h>\n",
           "mine.cu(12): fatal error: nothing.h: No such file or directory");
}

static void an_error_in_a_header_names_the_attempts_line(void **state)
{
    (void)state;
    expect("/pkb/include/pkbench.h(70): error: no operator \"+\" matches\n"
           "          detected during instantiation of \"T *pkb_peer(T)\" at line 17 of "
           "/pkb/build/mine.cu\n",
           "pkbench.h(70): error: no operator \"+\" matches (from line 17 of the attempt)");
}

static void ptxas_linker_and_driver_count_as_well(void **state)
{
    (void)state;
    expect("ptxas mine.ptx, line 31; error   : Unknown symbol 'foo'\nptxas fatal   : aborted\n",
           "ptxas mine.ptx, line 31; error   : Unknown symbol 'foo' (and 1 more)");
    expect(
        "/usr/bin/ld: /tmp/x.o: in function `f':\nx.cu:(.text+0x1): undefined reference to `g'\n",
        "x.cu:(.text+0x1): undefined reference to `g'");
    expect("gcc: internal compiler error: File size limit exceeded signal terminated program as\n"
           "Please submit a full bug report.\nSee README.Bugs for instructions.\n",
           "gcc: internal compiler error: File size limit exceeded signal terminated program as");
    expect("nvcc fatal   : Unsupported gpu architecture\n",
           "nvcc fatal   : Unsupported gpu architecture");
}

static void without_an_error_the_last_line_is_told(void **state)
{
    (void)state;
    expect("hello\nterminated\n\n", "terminated");
    expect("", "");
}

static void a_very_long_error_is_cut(void **state)
{
    char text[4096] = "/pkb/build/mine.cu(1): error: ";
    pkb_buf out = {0};
    const pkb_diagnostic_place place = {.source = "mine.cu"};
    (void)state;
    memset(text + strlen(text), 'x', sizeof text - strlen(text) - 1);
    text[sizeof text - 1] = '\0';
    pkb_diagnostic_shorten(&out, text, &place);
    assert_true(out.bytes < 420);
    pkb_buf_clear(&out);
}

static void a_killed_compiler_is_told_from_one_that_found_errors(void **state)
{
    (void)state;
    assert_true(pkb_diagnostic_tells_of_kill(
        "gcc: fatal error: Killed signal terminated program cc1plus\ncompilation terminated.\n"));
    assert_true(pkb_diagnostic_tells_of_kill(
        "collect2: fatal error: ld terminated with signal 9 [Killed]\n"));
    assert_true(pkb_diagnostic_tells_of_kill(
        "nvcc error   : '\"$CICC_PATH/cicc\"' died due to signal 9 (Kill signal)\n"));
    assert_false(pkb_diagnostic_tells_of_kill(
        "nvcc error   : '\"$CICC_PATH/cicc\"' died due to signal 11 (Invalid memory reference)\n"));
    assert_false(pkb_diagnostic_tells_of_kill(
        "gcc: internal compiler error: Segmentation fault signal terminated program cc1\n"));
    assert_false(pkb_diagnostic_tells_of_kill("mine.cu(1): error: Killed is undefined\n"));
    assert_false(pkb_diagnostic_tells_of_kill(""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(folders_are_left_out),
        cmocka_unit_test(the_first_of_several_is_shown_and_the_rest_counted),
        cmocka_unit_test(gcc_positions_look_like_those_of_nvcc),
        cmocka_unit_test(an_error_in_a_header_names_the_attempts_line),
        cmocka_unit_test(ptxas_linker_and_driver_count_as_well),
        cmocka_unit_test(without_an_error_the_last_line_is_told),
        cmocka_unit_test(a_very_long_error_is_cut),
        cmocka_unit_test(a_killed_compiler_is_told_from_one_that_found_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
