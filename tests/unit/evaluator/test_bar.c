/* SPDX-License-Identifier: Apache-2.0
 *
 * Tests of evaluator/console/bar.c: what a line of a terminal says of a long run.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "evaluator/console/bar.h"

static const char now[] = "013_gemm_allreduce/2  checking: tiny 2/3  4 s";

static void demand(const pkb_bar *bar, int columns, const char *wanted)
{
    pkb_buf line = {0};
    pkb_bar_write(&line, bar, now, columns);
    assert_string_equal(pkb_buf_text(&line), wanted);
    pkb_buf_clear(&line);
}

static void all_is_said_where_there_is_room(void **state)
{
    const pkb_bar bar = {.done = 12,
                         .total = 40,
                         .correct = 9,
                         .wrong = 2,
                         .pending = 1,
                         .judged = 10,
                         .judged_s = 100};
    (void)state;
    demand(&bar, 160,
           "[#######-----------------]  12/40  5 min left  9 correct, 2 wrong, 1 pending  6.0/min  "
           "013_gemm_allreduce/2  checking: tiny 2/3  4 s");
}

static void no_width_is_passed(void **state)
{
    const pkb_bar bar = {.done = 1234,
                         .total = 8700,
                         .correct = 1000,
                         .wrong = 234,
                         .judged = 1234,
                         .judged_s = 12345};
    (void)state;
    for (int columns = 1; columns < 200; columns++) {
        pkb_buf line = {0};
        pkb_bar_write(&line, &bar, now, columns);
        assert_true(line.bytes <= (size_t)columns);
        assert_true(columns < 9 || strstr(pkb_buf_text(&line), "1234/8700") != NULL);
        assert_true(columns < 30 || strstr(pkb_buf_text(&line), "20.7 h left") != NULL);
        assert_true(columns < 60 || strstr(pkb_buf_text(&line), "013_gemm_allreduce/2") != NULL);
        pkb_buf_clear(&line);
    }
}

static void what_is_unknown_is_not_said(void **state)
{
    const pkb_bar none = {.total = 3}, empty = {.total = 0};
    (void)state;
    demand(&none, 30, "0/3  013_gemm_allreduce/2  che");
    demand(&empty, 12, "0/0  013_gem");
}

static void rates_and_times_have_fitting_units(void **state)
{
    static const struct {
        double judged_s;
        const char *rate, *left;
    } rows[] = {
        {5, "2.0/s", "45 s left"}, {20, "30.0/min", "3 min left"}, {6000, "6.0/h", "15.0 h left"}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const pkb_bar bar = {.done = 10, .total = 100, .judged = 10, .judged_s = rows[i].judged_s};
        pkb_buf line = {0};
        pkb_bar_write(&line, &bar, "", 100);
        assert_non_null(strstr(pkb_buf_text(&line), rows[i].rate));
        assert_non_null(strstr(pkb_buf_text(&line), rows[i].left));
        pkb_buf_clear(&line);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_is_said_where_there_is_room),
        cmocka_unit_test(no_width_is_passed),
        cmocka_unit_test(what_is_unknown_is_not_said),
        cmocka_unit_test(rates_and_times_have_fitting_units),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
