/* SPDX-License-Identifier: Apache-2.0
 *
 * Tests of evaluator/record/result.c and printed.c: what a person sees of a record.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evaluator/attempt/printed.h"
#include "evaluator/record/result.h"

#define SIZE                                                                                      \
    "[{\"size\": \"tiny\", \"verdict\": \"CORRECT\", \"time_us\": {\"attempt\": 100, \"eager\": " \
    "250}, \"speedup\": {\"eager\": {\"value\": 2.25, \"unstable\": true}}}]"

/* The caller frees. */
static char *print(const char *json, const char *printed)
{
    const pkb_result_notes notes = {.printed = printed, .printed_rank = 1};
    cJSON *record = cJSON_Parse(json);
    char *text = NULL;
    size_t bytes = 0;

    assert_non_null(record);
    /* A stream without a descriptor, so no terminal. */
    FILE *out = open_memstream(&text, &bytes);
    assert_non_null(out);
    pkb_result_print(out, record, &notes);
    fclose(out);
    cJSON_Delete(record);
    return text;
}

static void gpus_show_the_median_of_the_ratios(void **state)
{
    char *text = print("{\"device\": \"cuda\", \"verdict\": \"CORRECT\", \"sizes\": " SIZE "}", "");
    (void)state;
    assert_non_null(strstr(text, "speed-up"));
    assert_non_null(strstr(text, "2.25x (unstable)"));
    assert_null(strstr(text, "2.50x"));
    assert_null(strstr(text, "printed"));
    free(text);
}

static void the_cpu_device_shows_times_only(void **state)
{
    char *text = print("{\"device\": \"cpu\", \"verdict\": \"CORRECT\", \"sizes\": " SIZE "}", "");
    (void)state;
    assert_non_null(strstr(text, "100.0 us"));
    assert_non_null(strstr(text, "250.0 us"));
    assert_non_null(strstr(text, "CPU: times are no score"));
    assert_null(strstr(text, "speed-up"));
    assert_null(strstr(text, "2.25"));
    free(text);
}

static void printed_lines_are_marked(void **state)
{
    char *text = print("{\"device\": \"cpu\", \"verdict\": \"CRASH\"}", "    hello\n");
    (void)state;
    assert_non_null(strstr(text, "the attempt printed:"));
    assert_non_null(strstr(text, "rank 1"));
    assert_non_null(strstr(text, "\n    hello\n"));
    free(text);
}

static void only_the_last_lines_are_shown(void **state)
{
    pkb_buf text = {0}, out = {0};
    (void)state;
    pkb_printed_tail(&out, "---- the attempt's output ----\n\n  \r\n", "> ");
    assert_string_equal(pkb_buf_text(&out), "");
    pkb_printed_tail(&out, "a\033[2J\r\n\nb", "> ");
    assert_string_equal(pkb_buf_text(&out), "> a?[2J\n> b\n");
    pkb_buf_reset(&out);
    for (int i = 0; i < 25; i++)
        pkb_buf_printf(&text, "%d%0300d\n", i + 10, 0);
    pkb_printed_tail(&out, pkb_buf_text(&text), "");
    assert_int_equal(strncmp(pkb_buf_text(&out), "25000", 5), 0);
    assert_int_equal(out.bytes, 10 * (200 + strlen("…") + 1));
    pkb_buf_clear(&text);
    pkb_buf_clear(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gpus_show_the_median_of_the_ratios),
        cmocka_unit_test(the_cpu_device_shows_times_only),
        cmocka_unit_test(printed_lines_are_marked),
        cmocka_unit_test(only_the_last_lines_are_shown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
