/* SPDX-License-Identifier: Apache-2.0
 *
 * evaluator/attempt/program.c: which sources count as one program.
 */
#include "evaluator/attempt/program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

static bool are_one(const char *a, const char *b)
{
    char first[PKB_HASH_HEX_BYTES], second[PKB_HASH_HEX_BYTES];
    assert_int_equal(pkb_program_hash(first, a, strlen(a), NULL), PKB_OK);
    assert_int_equal(pkb_program_hash(second, b, strlen(b), NULL), PKB_OK);
    return strcmp(first, second) == 0;
}

static void white_space_and_comments_make_no_other_program(void **state)
{
    (void)state;
    assert_true(are_one("int a = b+c;", "int  a=b + c ;\n\n"));
    assert_true(are_one("int a; // one\nint b;", "int a; /* two\n lines */ int b;"));
    assert_true(are_one("f( ( x ), { \"a\" } ) ;", "f((x),{\"a\"});"));
    assert_true(are_one("f(x);", "f(/* x or y */ x);\r\n"));
    assert_true(are_one("#define A 1\nint a;", "\n  # define A   1 // one\n\tint a;\n"));
    assert_true(are_one("#define A 1 + 2\n", "#define A 1 \\\n + 2"));
    assert_true(are_one("a; // goes \\\n on\nb;", "a;b;"));
    assert_true(are_one("a /* never ended", "a"));
    assert_true(are_one("x = 1'000'000;", "x=1'000'000 ;"));
    assert_true(are_one("c = u'a'; // one\nx;", "c = u'a';x;"));
    assert_true(are_one("x = 1 + 'a' ; // it's", "x=1+'a';"));
    assert_true(are_one("", " // nothing"));
}

static void what_a_compiler_sees_makes_another_program(void **state)
{
    (void)state;
    assert_false(are_one("int a;", "inta;"));
    assert_false(are_one("a + +b;", "a ++b;"));
    assert_false(are_one("a & &b;", "a && b;"));
    assert_false(are_one("#define A (1)\n", "#define A(1)\n"));
    assert_false(are_one("s = \"a b\";", "s = \"ab\";"));
    assert_false(are_one("s = \"// no\";", "s = \"\";"));
    assert_false(are_one("s = \"\\\" /* \"; x;", "s = \"\\\" /* \"; y;"));
    assert_false(are_one("c = '\"'; // a\n", "c = '\\''; // a\n"));
    assert_false(are_one("c = u'/'; c = '/';", "c = u'/';"));
    assert_false(are_one("#define A\nint a;", "#define A int a;"));
    assert_false(are_one("x;\n#if 1\ny;", "x; #if 1 y;"));
    assert_false(are_one("s = R\"(a  // b)\";", "s = R\"(a  )\";"));
    assert_false(are_one("s = R\"x()\" /* )x\"; a;", "s = R\"x()\" /* )x\"; b;"));
}

static void any_bytes_end(void **state)
{
    static const char *const odd[] = {"\"",   "'", "\\",   "/",    "/*",    "//",     "R\"",
                                      "R\"(", "#", "\\\n", "\"\\", "// \\", "/* \\\n"};
    (void)state;
    for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++)
        assert_true(are_one(odd[i], odd[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(white_space_and_comments_make_no_other_program),
        cmocka_unit_test(what_a_compiler_sees_makes_another_program),
        cmocka_unit_test(any_bytes_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
