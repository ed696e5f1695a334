/* SPDX-License-Identifier: Apache-2.0
 *
 * Tests of evaluator/record/record.c: which fields a record has, and which it has not.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/json.h"
#include "evaluator/record/record.h"

static const pkb_eval_options options = {
    .world = 2, .device = "cpu", .sizes = "tiny", .timeout_s = 20, .is_timed = true};
static char source[] = "code";
static const pkb_attempt attempt = {.source = source, .bytes = 4, .sha256 = "abc"};
static const pkb_toolbox tools;

static pkb_record_facts facts(void)
{
    return (pkb_record_facts){.options = &options,
                              .file = "tries/013_mine.cu",
                              .attempt = &attempt,
                              .problem = "013_gemm_allreduce",
                              .sandbox = "full",
                              .tools = &tools,
                              .costs = {1.23456, -1, -1, -1}};
}

static const char *text_of(const cJSON *record, const char *key)
{
    const char *text = NULL;
    assert_int_equal(pkb_json_get_string(record, key, &text, NULL), PKB_OK);
    return text;
}

static void what_was_not_measured_is_absent(void **state)
{
    static const char *const absent[] = {"sizes", "where", "secret", "sizes_asked", "control"};
    const pkb_record_facts known = facts();
    cJSON *record = NULL;
    (void)state;
    assert_int_equal(
        pkb_record_plain(&record, &known, PKB_VERDICT_COMPILE_ERROR, "a.cu(1): error", NULL),
        PKB_OK);
    assert_string_equal(text_of(record, "id"), "013_mine/013_gemm_allreduce/0/cpu/2");
    assert_string_equal(text_of(record, "verdict"), "COMPILE_ERROR");
    assert_string_equal(text_of(record, "reason"), "a.cu(1): error");
    assert_int_equal(strlen(text_of(record, "judgement")), 64);
    for (size_t i = 0; i < sizeof absent / sizeof absent[0]; i++)
        assert_null(cJSON_GetObjectItemCaseSensitive(record, absent[i]));
    const cJSON *costs = cJSON_GetObjectItemCaseSensitive(record, "cost_s");
    assert_int_equal(cJSON_GetArraySize(costs), 1);
    assert_true(costs->child->valuedouble == 1.235);
    cJSON_Delete(record);
}

static void the_run_is_the_stem_of_the_file(void **state)
{
    static const char *const names[][3] = {{"a/b/013_x.try.cu", "013_x.try", "013_x.try.cu"},
                                           {"../a b\033.cu", "a_b_", "a b?.cu"},
                                           {".cu", "_cu", ".cu"},
                                           {"...cu", "_.", "...cu"},
                                           {"plain", "plain", "plain"}};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        pkb_record_facts known = facts();
        cJSON *record = NULL;
        known.file = names[i][0];
        assert_int_equal(pkb_record_plain(&record, &known, PKB_VERDICT_NO_CODE, "", NULL), PKB_OK);
        assert_string_equal(text_of(record, "run"), names[i][1]);
        assert_string_equal(text_of(record, "source"), names[i][2]);
        assert_int_equal(strncmp(text_of(record, "id"), names[i][1], strlen(names[i][1])), 0);
        cJSON_Delete(record);
    }
}

static void what_the_judges_found_is_taken_over(void **state)
{
    const pkb_record_facts known = facts();
    cJSON *record = NULL,
          *event = cJSON_Parse(
              "{\"event\": \"verdict\", \"verdict\": \"WRONG_OUTPUT\", \"reason\": \"at "
              "/pkb/build/a.cu:3, then /pkb/build/a.cu:4\", \"where\": {\"rank\": 1}, "
              "\"sizes\": [{\"size\": \"tiny\", \"reason\": \"/pkb/build/a.cu:3\"}], \"cost_s\": "
              "{\"check\": 0.5}}");
    pkb_verdict verdict = PKB_VERDICT_CORRECT;
    (void)state;
    assert_int_equal(pkb_record_judged(&record, &known, event, NULL), PKB_OK);
    assert_int_equal(pkb_record_verdict(record, &verdict, NULL), PKB_OK);
    assert_int_equal(verdict, PKB_VERDICT_WRONG_OUTPUT);
    assert_string_equal(text_of(record, "reason"), "at a.cu:3, then a.cu:4");
    const cJSON *sizes = cJSON_GetObjectItemCaseSensitive(record, "sizes");
    assert_int_equal(cJSON_GetArraySize(sizes), 1);
    assert_string_equal(text_of(sizes->child, "reason"), "a.cu:3");
    assert_non_null(cJSON_GetObjectItemCaseSensitive(record, "where"));
    assert_non_null(cJSON_GetObjectItemCaseSensitive(
        cJSON_GetObjectItemCaseSensitive(record, "cost_s"), "check"));
    cJSON_Delete(record);
    cJSON_Delete(event);
}

static void a_run_names_its_records(void **state)
{
    pkb_record_facts known = facts();
    cJSON *record = NULL, *copy = NULL, *another = NULL;
    (void)state;
    known.run = "my run";
    known.sample = 7;
    assert_int_equal(pkb_record_plain(&record, &known, PKB_VERDICT_WRONG_OUTPUT, "no", NULL),
                     PKB_OK);
    assert_string_equal(text_of(record, "id"), "my_run/013_gemm_allreduce/7/cpu/2");
    known.sample = 8;
    known.file = "tries/8.cu";
    assert_int_equal(pkb_record_copy(&copy, record, &known, NULL), PKB_OK);
    assert_string_equal(text_of(copy, "id"), "my_run/013_gemm_allreduce/8/cpu/2");
    assert_string_equal(text_of(copy, "source"), "8.cu");
    assert_string_equal(text_of(copy, "judgement"), text_of(record, "judgement"));
    assert_string_equal(text_of(copy, "verdict"), "WRONG_OUTPUT");
    assert_null(cJSON_GetObjectItemCaseSensitive(copy, "cost_s"));
    assert_int_equal(pkb_record_copy(&another, copy, &known, NULL), PKB_OK);
    assert_string_equal(text_of(another, "same_as"), text_of(record, "id"));
    cJSON_Delete(record);
    cJSON_Delete(copy);
    cJSON_Delete(another);
}

static void another_verdict_leaves_the_rest(void **state)
{
    pkb_record_facts known = facts();
    cJSON *record = NULL, *copy = NULL;
    cJSON *control = cJSON_Parse("{\"verdict\": \"CORRECT\", \"cost_s\": {\"total\": 4}}");
    (void)state;
    known.control = control;
    assert_int_equal(pkb_record_plain(&record, &known, PKB_VERDICT_INFRA_ERROR, "gone", NULL),
                     PKB_OK);
    assert_true(pkb_record_is_pending(record));
    assert_int_equal(pkb_record_change(record, PKB_VERDICT_CRASH, "gone \033[1m twice", NULL),
                     PKB_OK);
    assert_string_equal(text_of(record, "verdict"), "CRASH");
    assert_null(strchr(text_of(record, "reason"), '\033'));
    assert_int_equal(strlen(text_of(record, "judgement")), 64);
    /* An equal attempt has cost nothing, nor has its control. */
    assert_int_equal(pkb_record_copy(&copy, record, &known, NULL), PKB_OK);
    assert_non_null(cJSON_GetObjectItemCaseSensitive(
        cJSON_GetObjectItemCaseSensitive(record, "control"), "cost_s"));
    const cJSON *copied = cJSON_GetObjectItemCaseSensitive(copy, "control");
    assert_string_equal(text_of(copied, "verdict"), "CORRECT");
    assert_null(cJSON_GetObjectItemCaseSensitive(copied, "cost_s"));
    cJSON_Delete(record);
    cJSON_Delete(copy);
    cJSON_Delete(control);
}

static void costs_lie_one_after_another(void **state)
{
    pkb_record_facts known = facts();
    cJSON *record = NULL,
          *event = cJSON_Parse("{\"verdict\": \"CORRECT\", \"cost_s\": {\"prepare\": 0.5, "
                               "\"check\": 2, \"end\": 0.25}}");
    (void)state;
    known.costs = (pkb_record_costs){.compile_s = 1, .start_s = -1, .prepare_s = 3, .total_s = 9};
    assert_int_equal(pkb_record_judged(&record, &known, event, NULL), PKB_OK);
    char *text = pkb_json_line(cJSON_GetObjectItemCaseSensitive(record, "cost_s"));
    assert_string_equal(text,
                        "{\"compile\":1,\"prepare\":3.5,\"check\":2,\"end\":0.25,\"total\":9}");
    cJSON_free(text);
    cJSON_Delete(record);
    cJSON_Delete(event);
}

static void a_verdict_nobody_knows_is_refused(void **state)
{
    const pkb_record_facts known = facts();
    cJSON *record = NULL, *event = cJSON_Parse("{\"verdict\": \"FINE\"}");
    pkb_error err = {0};
    (void)state;
    assert_int_not_equal(pkb_record_judged(&record, &known, event, &err), PKB_OK);
    assert_null(record);
    cJSON_Delete(event);
}

static void the_judgement_follows_the_problem(void **state)
{
    pkb_record_facts known = facts();
    char first[PKB_HASH_HEX_BYTES], second[PKB_HASH_HEX_BYTES];
    (void)state;
    known.definition = "1";
    assert_int_equal(pkb_record_judgement(first, &known, NULL), PKB_OK);
    known.run = "another";
    known.sample = 3;
    assert_int_equal(pkb_record_judgement(second, &known, NULL), PKB_OK);
    assert_string_equal(first, second);
    known.definition = "2";
    assert_int_equal(pkb_record_judgement(second, &known, NULL), PKB_OK);
    assert_string_not_equal(first, second);
}

/* With more time an attempt may get another verdict, so it is judged again. */
static void the_judgement_follows_the_time_limits(void **state)
{
    pkb_record_facts known = facts();
    char first[PKB_HASH_HEX_BYTES], second[PKB_HASH_HEX_BYTES];
    (void)state;
    assert_int_equal(pkb_record_judgement(first, &known, NULL), PKB_OK);
    for (int i = 0; i < 3; i++) {
        pkb_eval_options changed = options;
        changed.compile_timeout_s += i == 0;
        changed.timeout_s += i == 1;
        changed.has_timeout = i == 2;
        known.options = &changed;
        assert_int_equal(pkb_record_judgement(second, &known, NULL), PKB_OK);
        assert_string_not_equal(first, second);
    }
}

static void the_judgement_follows_the_source_and_not_the_costs(void **state)
{
    pkb_record_facts known = facts();
    pkb_attempt other = attempt;
    char changed[] = "edoc";
    cJSON *records[3] = {NULL};
    (void)state;
    pkb_record_plain(&records[0], &known, PKB_VERDICT_NO_CODE, "", NULL);
    known.costs.compile_s = 7;
    known.secret = "1234";
    pkb_record_plain(&records[1], &known, PKB_VERDICT_NO_CODE, "", NULL);
    other.source = changed;
    known.attempt = &other;
    pkb_record_plain(&records[2], &known, PKB_VERDICT_NO_CODE, "", NULL);
    assert_string_equal(text_of(records[0], "judgement"), text_of(records[1], "judgement"));
    assert_string_not_equal(text_of(records[0], "judgement"), text_of(records[2], "judgement"));
    for (size_t i = 0; i < 3; i++)
        cJSON_Delete(records[i]);
}

static void records_are_appended_one_a_line(void **state)
{
    char folder[] = "/tmp/pkb-record-XXXXXX";
    const pkb_record_facts known = facts();
    cJSON *record = NULL;
    char *text = NULL;
    size_t bytes = 0;
    (void)state;
    assert_non_null(mkdtemp(folder));
    char *path = pkb_fs_join(folder, "r.jsonl");
    pkb_record_plain(&record, &known, PKB_VERDICT_NO_CODE, "", NULL);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pkb_record_append(record, path, NULL), PKB_OK);
    assert_int_equal(pkb_fs_read(path, 1 << 20, &text, &bytes, NULL), PKB_OK);
    size_t lines = 0;
    for (size_t i = 0; i < bytes; i++)
        lines += text[i] == '\n';
    assert_int_equal(lines, 2);
    assert_int_equal(pkb_record_append(record, "/dev/full", NULL), PKB_ERR_DISK);
    assert_int_equal(pkb_record_check_file("/nowhere/r.jsonl", NULL), PKB_ERR_DISK);
    pkb_fs_remove_tree(folder, NULL);
    cJSON_Delete(record);
    free(text);
    free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_not_measured_is_absent),
        cmocka_unit_test(the_run_is_the_stem_of_the_file),
        cmocka_unit_test(what_the_judges_found_is_taken_over),
        cmocka_unit_test(a_run_names_its_records),
        cmocka_unit_test(another_verdict_leaves_the_rest),
        cmocka_unit_test(costs_lie_one_after_another),
        cmocka_unit_test(a_verdict_nobody_knows_is_refused),
        cmocka_unit_test(the_judgement_follows_the_problem),
        cmocka_unit_test(the_judgement_follows_the_time_limits),
        cmocka_unit_test(the_judgement_follows_the_source_and_not_the_costs),
        cmocka_unit_test(records_are_appended_one_a_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
