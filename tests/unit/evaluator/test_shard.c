/* SPDX-License-Identifier: Apache-2.0
 *
 * Tests of evaluator/run/shard.c, numbers.c and rejudge.c: which attempts of a run are meant.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "evaluator/record/results_index.h"
#include "evaluator/run/numbers.h"
#include "evaluator/run/rejudge.h"
#include "evaluator/run/shard.h"

static void shards_share_everything_evenly_and_in_order(void **state)
{
    (void)state;
    for (size_t count = 0; count < 40; count++)
        for (int parts = 1; parts < 12; parts++) {
            size_t next = 0;
            for (int part = 1; part <= parts; part++) {
                const pkb_shard shard = {part, parts};
                size_t first = 0, end = 0;
                pkb_shard_range(&shard, count, &first, &end);
                assert_int_equal(first, next);
                assert_in_range(end - first, count / (size_t)parts,
                                count / (size_t)parts + (count % (size_t)parts != 0));
                next = end;
            }
            assert_int_equal(next, count);
        }
}

static void a_shard_is_one_of_so_many(void **state)
{
    static const char *const wrong[] = {"",     "1",       "0/3",  "4/3",  "1/0",
                                        "1/3x", "x",       "1/",   "/3",   "-1/3",
                                        "1/-3", "1/10000", " 1/3", "1 /3", "1//3"};
    pkb_shard shard;
    pkb_error err = {0};
    (void)state;
    assert_int_equal(pkb_shard_parse(&shard, "2/3", NULL), PKB_OK);
    assert_true(shard.index == 2 && shard.count == 3);
    assert_int_equal(pkb_shard_parse(&shard, NULL, NULL), PKB_OK);
    assert_true(shard.index == 1 && shard.count == 1);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_int_equal(pkb_shard_parse(&shard, wrong[i], &err), PKB_ERR_USAGE);
        assert_non_null(strstr(err.message, "--shard wants"));
    }
}

static void numbers_and_ranges_are_read(void **state)
{
    static const char *const wrong[] = {"",   ",",     "x",    "4-0",       "1-",
                                        "-1", "1-2-3", "1,,x", "1234567890"};
    pkb_numbers numbers = {0};
    (void)state;
    assert_int_equal(pkb_numbers_parse(&numbers, "0-4,7, 100", NULL), PKB_OK);
    for (int64_t i = 0; i < 200; i++)
        assert_int_equal(pkb_numbers_hold(&numbers, i), i <= 4 || i == 7 || i == 100);
    pkb_numbers_clear(&numbers);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_int_equal(pkb_numbers_parse(&numbers, wrong[i], NULL), PKB_ERR_USAGE);
    assert_null(numbers.ranges);
}

/* ---- what is judged again ---- */

static char *names[] = {"001_allreduce", "013_gemm_allreduce"};
static const pkb_catalogue catalogue = {.names = names, .count = 2};

static uint32_t kept(const char *list, int64_t sample)
{
    pkb_rejudge rejudge = {0};
    assert_int_equal(pkb_rejudge_parse(&rejudge, list, &catalogue, NULL), PKB_OK);
    const uint32_t verdicts = pkb_rejudge_kept(
        &rejudge, sample == 4 ? "r/013_gemm_allreduce/4/cpu/2" : "r/x/0/cpu/2", names[1], sample);
    pkb_rejudge_clear(&rejudge);
    return verdicts;
}

static void verdicts_attempts_and_all_are_judged_again(void **state)
{
    const uint32_t timeout = PKB_VERDICT_BIT(PKB_VERDICT_TIMEOUT);
    const uint32_t crash = PKB_VERDICT_BIT(PKB_VERDICT_CRASH);
    (void)state;
    assert_int_equal(kept(NULL, 4), PKB_VERDICTS_ALL);
    assert_int_equal(kept("all", 4), 0);
    assert_int_equal(kept("TIMEOUT", 4), ~timeout);
    assert_int_equal(kept("timeout,Crash", 4), ~(timeout | crash));
    assert_int_equal(kept("13/4", 4), 0);
    assert_int_equal(kept("013_gemm_allreduce/4, TIMEOUT", 4), 0);
    assert_int_equal(kept("13/4,TIMEOUT", 5), ~timeout);
    assert_int_equal(kept("r/013_gemm_allreduce/4/cpu/2", 4), 0);
    assert_int_equal(kept("r/013_gemm_allreduce/4/cpu/2", 5), PKB_VERDICTS_ALL);
}

static void what_names_nothing_to_judge_again_is_told(void **state)
{
    static const struct {
        const char *list, *word;
    } rows[] = {{"TIMEOT", "TIMEOUT"},  {"13", "'13' is no"},  {"13/x", "'13/x' is no"},
                {"13/", "'13/' is no"}, {"99/1", "'99'"},      {"a/b/c", "'a/b/c' is no"},
                {"", "--rejudge all"},  {",", "--rejudge all"}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        pkb_rejudge rejudge = {0};
        pkb_error err = {0};
        assert_int_equal(pkb_rejudge_parse(&rejudge, rows[i].list, &catalogue, &err),
                         PKB_ERR_USAGE);
        assert_non_null(strstr(err.message, rows[i].word));
        assert_null(rejudge.items);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shards_share_everything_evenly_and_in_order),
        cmocka_unit_test(a_shard_is_one_of_so_many),
        cmocka_unit_test(numbers_and_ranges_are_read),
        cmocka_unit_test(verdicts_attempts_and_all_are_judged_again),
        cmocka_unit_test(what_names_nothing_to_judge_again_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
