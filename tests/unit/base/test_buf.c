/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

static void an_empty_buffer_has_empty_text(void **state)
{
    pkb_buf buf;
    (void)state;
    pkb_buf_init(&buf);
    assert_string_equal(pkb_buf_text(&buf), "");
    assert_null(buf.data);
    pkb_buf_clear(&buf);
}

static void appended_pieces_follow_one_another(void **state)
{
    pkb_buf buf;
    (void)state;
    pkb_buf_init(&buf);
    pkb_buf_append(&buf, "ab\0c", 4);
    pkb_buf_append_string(&buf, "de");
    pkb_buf_append_byte(&buf, 'f');
    pkb_buf_printf(&buf, "%d-%s", 42, "g");
    assert_int_equal(buf.bytes, 11);
    assert_memory_equal(buf.data, "ab\0cdef42-g", 12);
    pkb_buf_reset(&buf);
    assert_string_equal(pkb_buf_text(&buf), "");
    assert_int_equal(pkb_buf_check(&buf, "a test", NULL), PKB_OK);
    pkb_buf_clear(&buf);
}

static void long_text_is_formatted_whole(void **state)
{
    pkb_buf buf;
    (void)state;
    pkb_buf_init(&buf);
    for (int i = 0; i < 1000; i++)
        pkb_buf_printf(&buf, "%0*d", i, i);
    assert_int_equal(buf.bytes, 499500 + 1); /* "%00d" of 0 is one digit */
    assert_memory_equal(buf.data + buf.bytes - 4, "0999", 5);
    pkb_buf_clear(&buf);
}

static void failure_sticks_until_the_buffer_is_cleared(void **state)
{
    pkb_buf buf;
    pkb_error err = {0};
    (void)state;
    pkb_buf_init(&buf);
    pkb_buf_append_string(&buf, "kept");
    assert_int_equal(pkb_buf_reserve(&buf, SIZE_MAX), PKB_ERR_MEMORY);
    assert_int_equal(pkb_buf_append_string(&buf, "lost"), PKB_ERR_MEMORY);
    assert_int_equal(pkb_buf_printf(&buf, "lost"), PKB_ERR_MEMORY);
    assert_string_equal(pkb_buf_text(&buf), "kept");
    assert_int_equal(pkb_buf_check(&buf, "a list", &err), PKB_ERR_MEMORY);
    assert_non_null(strstr(err.message, "a list"));
    assert_null(pkb_buf_take(&buf));
    assert_int_equal(pkb_buf_append_string(&buf, "new"), PKB_OK);
    pkb_buf_clear(&buf);
}

static void taken_text_is_the_callers(void **state)
{
    pkb_buf buf;
    (void)state;
    pkb_buf_init(&buf);
    pkb_buf_append_string(&buf, "text");
    char *text = pkb_buf_take(&buf);
    assert_string_equal(text, "text");
    assert_int_equal(buf.bytes, 0);
    free(text);
    text = pkb_buf_take(&buf);
    assert_string_equal(text, "");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_buffer_has_empty_text),
        cmocka_unit_test(appended_pieces_follow_one_another),
        cmocka_unit_test(long_text_is_formatted_whole),
        cmocka_unit_test(failure_sticks_until_the_buffer_is_cleared),
        cmocka_unit_test(taken_text_is_the_callers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
