/* SPDX-License-Identifier: Apache-2.0
 *
 * Tests of evaluator/record/speedup.c and summary.c: what is told of records.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evaluator/record/speedup.h"
#include "evaluator/run/summary.h"

#define SIZE(class, value, low, high)                                                   \
    "{\"class\":\"" class "\",\"speedup\":{\"eager\":{\"value\":" value ",\"low\":" low \
                          ",\"high\":" high "}}}"
#define RECORD(device, verdict, sizes)                                              \
    "{\"device\":\"" device "\",\"verdict\":\"" verdict "\",\"sizes\":[" sizes "]," \
    "\"cost_s\":{\"compile\":1.5,\"check\":2,\"total\":4}}"

static bool speedup_of(pkb_interval *out, const char *text)
{
    cJSON *record = cJSON_Parse(text);
    assert_non_null(record);
    const bool has = pkb_speedup_of_record(out, record);
    cJSON_Delete(record);
    return has;
}

static void the_speedup_is_the_geometric_mean_of_scored_sizes(void **state)
{
    pkb_interval got;
    (void)state;
    assert_true(
        speedup_of(&got, RECORD("cuda", "CORRECT",
                                SIZE("tiny", "9", "9", "9") "," SIZE("pkb", "2", "1", "4") "," SIZE(
                                    "large", "8", "4", "9"))));
    assert_true(fabs(got.value - 4) < 1e-12 && fabs(got.low - 2) < 1e-12 &&
                fabs(got.high - 6) < 1e-12);
}

static void what_has_no_score_has_no_speedup(void **state)
{
    pkb_interval got;
    (void)state;
    assert_false(speedup_of(&got, RECORD("cuda", "CORRECT", SIZE("tiny", "9", "9", "9"))));
    assert_false(speedup_of(&got, RECORD("cpu", "CORRECT", SIZE("pkb", "2", "1", "4"))));
    assert_false(speedup_of(&got, RECORD("cuda", "CRASH", SIZE("pkb", "2", "1", "4"))));
    assert_false(speedup_of(
        &got, RECORD("cuda", "CORRECT", SIZE("pkb", "2", "1", "4") ",{\"class\":\"large\"}")));
}

static void a_line_and_a_row_say_it(void **state)
{
    const pkb_summary_place place = {3, 40, "013_gemm_allreduce", 2, 0};
    const pkb_summary_place next = {4, 40, "013_gemm_allreduce", 3, 0};
    cJSON *good = cJSON_Parse(RECORD("cuda", "CORRECT", SIZE("pkb", "1.234", "1.2", "1.3")));
    cJSON *bad = cJSON_Parse(RECORD("cuda", "CRASH", ""));
    pkb_summary summary = {0};
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    (void)state;
    cJSON_AddStringToObject(bad, "reason", "rank 1: \033[2Jgone\nmore");
    pkb_summary_line(out, &place, good);
    pkb_summary_line(out, &next, bad);
    assert_true(pkb_summary_add(&summary, place.problem, bad));
    assert_true(pkb_summary_add(&summary, place.problem, good));
    pkb_summary_print(out, &summary);
    fclose(out);
    assert_non_null(strstr(text, "[ 3/40] 013_gemm_allreduce/2"));
    assert_non_null(strstr(text, "1.23x    4.00 s\n"));
    assert_non_null(strstr(text, "CRASH                    -    4.00 s  rank 1: ?[2Jgone\n"));
    assert_non_null(strstr(text, "    1/2  CORRECT           1.23x [1.20, 1.30]        8.00"));
    assert_non_null(strstr(text, "best speed-up"));
    assert_int_equal(summary.count, 1);
    pkb_summary_clear(&summary);
    cJSON_Delete(good);
    cJSON_Delete(bad);
    free(text);
}

/* Where a word stands in the line that begins at `line`. */
static long column_of(const char *line, const char *word)
{
    const char *found = strstr(line, word);
    assert_non_null(found);
    return found - line;
}

static void long_names_move_the_columns_of_all_lines(void **state)
{
    static const char long_name[] = "073_vocab_parallel_cross_entropy_loss";
    const pkb_summary_place places[] = {{9, 10, "001_allreduce", 0, sizeof long_name + 1},
                                        {10, 10, long_name, 0, sizeof long_name + 1}};
    cJSON *record = cJSON_Parse(RECORD("cpu", "CRASH", ""));
    pkb_summary summary = {0};
    char *text = NULL, *line[6];
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    (void)state;
    for (int i = 0; i < 2; i++) {
        pkb_summary_line(out, &places[i], record);
        assert_true(pkb_summary_add(&summary, places[i].problem, record));
    }
    pkb_summary_print(out, &summary);
    fclose(out);
    line[0] = text; /* two attempts, an empty line, a head, two problems */
    for (int i = 1; i < 6; i++)
        line[i] = strchr(line[i - 1], '\n') + 1;
    assert_int_equal(column_of(line[0], "CRASH"), column_of(line[1], "CRASH"));
    assert_int_equal(column_of(line[3], "best verdict"), column_of(line[4], "CRASH"));
    assert_int_equal(column_of(line[3], "best verdict"), column_of(line[5], "CRASH"));
    pkb_summary_clear(&summary);
    cJSON_Delete(record);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_speedup_is_the_geometric_mean_of_scored_sizes),
        cmocka_unit_test(what_has_no_score_has_no_speedup),
        cmocka_unit_test(a_line_and_a_row_say_it),
        cmocka_unit_test(long_names_move_the_columns_of_all_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
