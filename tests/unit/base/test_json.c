/* SPDX-License-Identifier: Apache-2.0
 *
 * base/json.c: what is missing or mistyped is named.
 */
#include "base/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static cJSON *parse(const char *text)
{
    cJSON *value = NULL;
    assert_int_equal(pkb_json_parse(&value, text, strlen(text), "the text", NULL), PKB_OK);
    return value;
}

static void typed_values_come_back(void **state)
{
    (void)state;
    cJSON *value =
        parse("{\"s\": \"x\", \"i\": -9007199254740992, \"b\": true, \"d\": 0.5, \"l\": [1]}");
    const char *text = NULL;
    int64_t number = 0;
    bool flag = false;
    double real = 0;
    const cJSON *list = NULL;
    assert_int_equal(pkb_json_get_string(value, "s", &text, NULL), PKB_OK);
    assert_string_equal(text, "x");
    assert_int_equal(pkb_json_get_i64(value, "i", &number, NULL), PKB_OK);
    assert_true(number == -INT64_C(9007199254740992));
    assert_int_equal(pkb_json_get_bool(value, "b", &flag, NULL), PKB_OK);
    assert_true(flag);
    assert_int_equal(pkb_json_get_double(value, "d", &real, NULL), PKB_OK);
    assert_true(real == 0.5);
    assert_int_equal(pkb_json_get_array(value, "l", &list, NULL), PKB_OK);
    assert_string_equal(pkb_json_string_or(value, "t", "fallback"), "fallback");
    assert_true(pkb_json_has(value, "s") && !pkb_json_has(value, "S"));
    cJSON_Delete(value);
}

static void missing_and_mistyped_keys_are_named(void **state)
{
    (void)state;
    cJSON *value = parse("{\"s\": 1, \"i\": 0.5, \"n\": -1, \"big\": 1e300}");
    pkb_error err = {0};
    const char *text = NULL;
    int64_t number = 0;
    uint64_t natural = 0;
    assert_int_equal(pkb_json_get_string(value, "absent", &text, &err), PKB_ERR_FORMAT);
    assert_string_equal(err.message, "the key \"absent\" is missing");
    assert_int_equal(pkb_json_get_string(value, "s", &text, &err), PKB_ERR_FORMAT);
    assert_string_equal(err.message, "the key \"s\" is not a string");
    assert_int_equal(pkb_json_get_i64(value, "i", &number, &err), PKB_ERR_FORMAT);
    assert_int_equal(pkb_json_get_i64(value, "big", &number, &err), PKB_ERR_FORMAT);
    assert_int_equal(pkb_json_get_u64(value, "n", &natural, &err), PKB_ERR_FORMAT);
    assert_null(text);
    cJSON_Delete(value);
}

static void broken_text_is_reported_with_its_line(void **state)
{
    (void)state;
    pkb_error err = {0};
    cJSON *value = NULL;
    const char *text = "{\n\"a\": 1,\n\"b\": }\n";
    assert_int_equal(pkb_json_parse(&value, text, strlen(text), "plan.json", &err), PKB_ERR_FORMAT);
    assert_string_equal(err.message, "plan.json is not valid JSON (line 3)");
    assert_null(value);
}

static void one_text_holds_one_value(void **state)
{
    (void)state;
    static const char twice[] = "{\"a\": 1}\n{\"a\": 2}", blank[] = "{\"a\": 1} \r\n";
    cJSON *value = NULL;
    pkb_error err = {0};
    assert_int_equal(pkb_json_parse(&value, twice, strlen(twice), "the text", &err),
                     PKB_ERR_FORMAT);
    assert_non_null(strstr(err.message, "line 2"));
    assert_null(value);
    cJSON_Delete(parse(blank));
}

static void a_key_that_stands_twice_is_named(void **state)
{
    static const char *const texts[] = {"{\"a\": 1, \"key\": 1, \"b\": 2, \"key\": 1}",
                                        "[1, {\"b\": {\"key\": 1, \"k\\u0065y\": 2}}]"};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        cJSON *value = NULL;
        pkb_error err = {0};
        assert_int_equal(pkb_json_parse(&value, texts[i], strlen(texts[i]), "the text", &err),
                         PKB_ERR_FORMAT);
        assert_string_equal(err.message, "the key \"key\" stands twice in the text");
        assert_null(value);
    }
    cJSON_Delete(parse("{\"a\": {\"a\": 1}, \"A\": [{\"b\": 1}, {\"b\": 1}]}"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(typed_values_come_back),
        cmocka_unit_test(missing_and_mistyped_keys_are_named),
        cmocka_unit_test(broken_text_is_reported_with_its_line),
        cmocka_unit_test(one_text_holds_one_value),
        cmocka_unit_test(a_key_that_stands_twice_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
