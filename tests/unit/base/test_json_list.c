/* SPDX-License-Identifier: Apache-2.0
 *
 * base/json_list.c: a text stands in a list once.
 */
#include "base/json_list.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/json.h"

static void a_text_stands_in_it_once_and_in_order(void **state)
{
    (void)state;
    cJSON *list = cJSON_CreateArray();
    const char *const texts[] = {"b", "a", "b", "a"};

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        assert_true(pkb_json_list_add_new(list, texts[i], 8));
    char *line = pkb_json_line(list);
    assert_string_equal(line, "[\"b\",\"a\"]");
    cJSON_free(line);
    cJSON_Delete(list);
}

static void a_full_list_stays_as_it_is(void **state)
{
    (void)state;
    cJSON *list = cJSON_CreateArray();

    assert_true(pkb_json_list_add_new(list, "a", 1));
    assert_true(pkb_json_list_add_new(list, "b", 1));
    assert_int_equal(cJSON_GetArraySize(list), 1);
    assert_false(pkb_json_list_add_new(NULL, "a", 1));
    cJSON_Delete(list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_text_stands_in_it_once_and_in_order),
        cmocka_unit_test(a_full_list_stays_as_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
