/* SPDX-License-Identifier: Apache-2.0
 *
 * base/error.c: messages, errno in words, exit codes.
 */
#include "base/error.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void errno_is_appended_in_words(void **state)
{
    (void)state;
    pkb_error err = {0};
    errno = ENOENT;
    assert_int_equal(pkb_error_set_errno(&err, PKB_ERR_IO, "cannot open %s", "x"), PKB_ERR_IO);
    assert_string_equal(err.message, "cannot open x: No such file or directory");
    assert_int_equal(err.detail, ENOENT);
}

static void long_messages_are_cut_and_terminated(void **state)
{
    (void)state;
    pkb_error err = {0};
    char text[2000];
    memset(text, 'a', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    errno = EIO;
    pkb_error_set_errno(&err, PKB_ERR_IO, "%s", text);
    assert_int_equal(strlen(err.message), sizeof err.message - 1);
}

static void exit_codes_are_those_of_the_design(void **state)
{
    (void)state;
    assert_int_equal(pkb_code_exit_status(PKB_OK), 0);
    assert_int_equal(pkb_code_exit_status(PKB_ERR_USAGE), 2);
    assert_int_equal(pkb_code_exit_status(PKB_ERR_CHILD), 3);
    assert_int_equal(pkb_code_exit_status(PKB_ERR_MISSING), 3);
    assert_int_equal(pkb_code_exit_status(PKB_ERR_DISK), 5);
    assert_int_equal(pkb_code_exit_status(PKB_ERR_INTERRUPTED), 130);
}

static void nobody_needs_to_want_the_text(void **state)
{
    (void)state;
    assert_int_equal(pkb_error_set(NULL, PKB_ERR_MEMORY, 0, "ignored"), PKB_ERR_MEMORY);
    assert_string_equal(pkb_code_name(PKB_ERR_MEMORY), "memory");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errno_is_appended_in_words),
        cmocka_unit_test(long_messages_are_cut_and_terminated),
        cmocka_unit_test(exit_codes_are_those_of_the_design),
        cmocka_unit_test(nobody_needs_to_want_the_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
