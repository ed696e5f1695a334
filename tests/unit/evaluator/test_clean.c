/* SPDX-License-Identifier: Apache-2.0
 *
 * Tests of evaluator/console/clean.c: what an attempt can make a terminal or a JSON line hold.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "evaluator/console/clean.h"

#define BAD "\xef\xbf\xbd"

static void expect(const char *text, const char *wanted)
{
    pkb_buf out = {0};
    assert_true(pkb_clean_append(&out, text, strlen(text), SIZE_MAX));
    assert_string_equal(pkb_buf_text(&out), wanted);
    pkb_buf_clear(&out);
}

static void plain_text_stays(void **state)
{
    (void)state;
    expect("", "");
    expect("a.cu(3): error: \"x\" is undefined", "a.cu(3): error: \"x\" is undefined");
    expect("\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80", "\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80");
}

static void control_characters_become_question_marks(void **state)
{
    (void)state;
    expect("\033[2J\033]0;x\a", "?[2J?]0;x?");
    expect("a\tb\nc\rd\x7f", "a b c?d?");
    expect("\xc2\x9b"
           "31m\xe2\x80\xae.",
           "?31m?.");
    expect("a\xd8\x9c.", "a?."); /* an Arabic letter mark */
}

static void what_is_no_utf8_is_marked(void **state)
{
    (void)state;
    expect("a\xff\xfe z", "a" BAD BAD " z");
    expect("\x9b"
           "31m",
           BAD "31m");
    expect("\xc0\x80", BAD BAD);                 /* longer than needed */
    expect("\xed\xa0\x80", BAD BAD BAD);         /* a surrogate */
    expect("\xf4\x90\x80\x80", BAD BAD BAD BAD); /* beyond the last one */
    expect("\xe2\x82", BAD BAD);                 /* cut */
}

static void utf8_is_known(void **state)
{
    (void)state;
    assert_true(pkb_clean_is_utf8("", 0));
    assert_true(pkb_clean_is_utf8("a\0\xc3\xa4", 4));
    assert_false(pkb_clean_is_utf8("a\xc3", 2));
    assert_false(pkb_clean_is_utf8("\xc3\xa4 \xff", 4));
}

static void a_text_is_cut_between_characters(void **state)
{
    pkb_buf out = {0};
    (void)state;
    assert_false(pkb_clean_append(&out, "ab\xc3\xa4", 4, 3));
    assert_string_equal(pkb_buf_text(&out), "ab");
    pkb_buf_clear(&out);
}

static void every_string_of_a_json_value_is_cleaned(void **state)
{
    cJSON *value = cJSON_Parse("{\"a\": \"x\\u001b[0m\", \"b\": [{\"c\": \"\\u009b\"}, 1]}");
    (void)state;
    assert_int_equal(pkb_clean_json(value, NULL), PKB_OK);
    char *text = cJSON_PrintUnformatted(value);
    assert_string_equal(text, "{\"a\":\"x?[0m\",\"b\":[{\"c\":\"?\"},1]}");
    cJSON_free(text);
    cJSON_Delete(value);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_text_stays),
        cmocka_unit_test(control_characters_become_question_marks),
        cmocka_unit_test(what_is_no_utf8_is_marked),
        cmocka_unit_test(utf8_is_known),
        cmocka_unit_test(a_text_is_cut_between_characters),
        cmocka_unit_test(every_string_of_a_json_value_is_cleaned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
