/* SPDX-License-Identifier: Apache-2.0
 *
 * Tests of evaluator/worker/request.c and memo.c: what a line asks for, and what is remembered.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evaluator/worker/memo.h"
#include "evaluator/worker/request.h"

static char *names[] = {(char[]){"001_allreduce"}, (char[]){"013_gemm_allreduce"}};
static const pkb_catalogue catalogue = {
    .directory = (char[]){"problems"}, .names = names, .count = 2};

/* The caller clears; texts are the request's own. */
static pkb_code parse(pkb_request *out, const char *text, pkb_error *err)
{
    char *copy = strdup(text);
    assert_non_null(copy);
    const pkb_line line = {.text = copy, .bytes = strlen(copy), .is_whole = true};
    const pkb_code rc = pkb_request_parse(out, &catalogue, &line, err);
    free(copy);
    return rc;
}

static void a_plain_request_leaves_the_rest_to_the_worker(void **state)
{
    pkb_request request;
    (void)state;
    assert_int_equal(parse(&request, "{\"request\":\"a\",\"problem\":13,\"source\":\"x\"}", NULL),
                     PKB_OK);
    assert_string_equal(request.id->valuestring, "a");
    assert_ptr_equal(request.problem, names[1]);
    assert_string_equal(request.source, "x");
    assert_null(request.file);
    assert_null(request.device);
    assert_int_equal(request.sizes.bytes, 0);
    assert_int_equal(request.world, 0);
    assert_false(request.has_time || request.is_fresh);
    pkb_request_clear(&request);
}

static void every_key_is_read(void **state)
{
    pkb_request request;
    (void)state;
    assert_int_equal(parse(&request,
                           "{\"request\":7,\"problem\":\"allreduce\",\"file\":\"x.cu\",\"world\":4,"
                           "\"device\":\"cpu\",\"sizes\":[\"tiny\",\"pkb\"],\"time\":false,"
                           "\"fresh\":true}",
                           NULL),
                     PKB_OK);
    assert_string_equal(request.id->valuestring, "7");
    assert_ptr_equal(request.problem, names[0]);
    assert_string_equal(request.file, "x.cu");
    assert_int_equal(request.world, 4);
    assert_string_equal(request.device, "cpu");
    assert_string_equal(pkb_buf_text(&request.sizes), "tiny,pkb");
    assert_true(request.has_time && !request.is_timed && request.is_fresh);
    pkb_request_clear(&request);
}

static void what_is_wrong_is_said_beside_the_id(void **state)
{
    static const struct {
        const char *rest, *word;
    } rows[] = {
        {"\"source\":\"x\"", "\"problem\" is missing"},
        {"\"problem\":true,\"source\":\"x\"", "no name and no number"},
        {"\"problem\":99,\"source\":\"x\"", "'99'"},
        {"\"problem\":1", "\"source\" or \"file\""},
        {"\"problem\":1,\"source\":\"x\",\"file\":\"y\"", "not both"},
        {"\"problem\":1,\"source\":5", "\"source\" is no text"},
        {"\"problem\":1,\"source\":\"x\",\"world\":0", "\"world\""},
        {"\"problem\":1,\"source\":\"x\",\"world\":65", "\"world\""},
        {"\"problem\":1,\"source\":\"x\",\"world\":2.5", "\"world\""},
        {"\"problem\":1,\"source\":\"x\",\"sizes\":[]", "\"sizes\""},
        {"\"problem\":1,\"source\":\"x\",\"sizes\":\"\"", "\"sizes\""},
        {"\"problem\":1,\"source\":\"x\",\"sizes\":[1]", "\"sizes\""},
        {"\"problem\":1,\"source\":\"x\",\"time\":\"no\"", "\"time\""},
        {"\"problem\":1,\"source\":\"x\",\"fresh\":1", "\"fresh\""},
        {"\"problem\":1,\"source\":\"x\",\"device\":1", "\"device\" is no text"},
        {"\"problem\":1,\"source\":\"x\",\"sorce\":1", "did you mean source?"},
        {"\"problem\":1,\"source\":\"x\",\"source\":\"y\"", "\"source\" stands twice"},
        {"\"problem\":1,\"problem\":1,\"source\":\"x\"", "\"problem\" stands twice"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[256];
        pkb_error err = {0};
        pkb_request request;
        snprintf(text, sizeof text, "{\"request\":%zu,%s}", i, rows[i].rest);
        const pkb_code rc = parse(&request, text, &err);
        assert_true(rc == PKB_ERR_USAGE || rc == PKB_ERR_FORMAT);
        if (strstr(err.message, rows[i].word) == NULL)
            fail_msg("%s: %s", text, err.message);
        assert_int_equal(strtoul(request.id->valuestring, NULL, 10), i);
        pkb_request_clear(&request);
    }
}

static void lines_that_are_no_request_have_no_id(void **state)
{
    static const char *const texts[] = {"",
                                        "{",
                                        "[]",
                                        "{} {}",
                                        "{\"request\":null}",
                                        "{\"request\":[1]}",
                                        "{\"problem\":1,\"source\":\"x\"}",
                                        "{\"request\":1,\"source\":\"\\u0000\"}",
                                        "{\"request\":1,\"problem\":1,\"request\":1}",
                                        "{\"request\":007,\"problem\":1,\"source\":\"x\"}",
                                        "{\"request\":1.,\"problem\":1,\"source\":\"x\"}"};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        pkb_request request;
        assert_int_not_equal(parse(&request, texts[i], NULL), PKB_OK);
        assert_null(request.id);
        pkb_request_clear(&request);
    }
}

/* Whatever stands before it, and however the key is written. */
static void a_number_is_kept_digit_by_digit(void **state)
{
    static const char *const ids[] = {"9007199254740993",
                                      "-18446744073709551615",
                                      "1.0",
                                      "1E400",
                                      "0.1000000000000000000000001",
                                      "-0"};
    static const struct {
        const char *before, *after;
    } forms[] = {
        {"{\"request\":", ",\"problem\":1,\"source\":\"x\"}"},
        {" {\"source\":\"\\\\\\\"{,\\\":\",\"sizes\":[\"a,b\",\"]\"],\"request\" : ",
         " ,\"problem\":1}"},
        {"{\"problem\":1,\"source\":\"x\",\"re\\u0071uest\":", "}"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++)
        for (size_t form = 0; form < sizeof forms / sizeof forms[0]; form++) {
            char text[256];
            pkb_request request;
            snprintf(text, sizeof text, "%s%s%s", forms[form].before, ids[i], forms[form].after);
            assert_int_equal(parse(&request, text, NULL), PKB_OK);
            char *printed = cJSON_PrintUnformatted(request.id);
            assert_string_equal(printed, ids[i]);
            cJSON_free(printed);
            pkb_request_clear(&request);
        }
}

/* ---- memo ---- */

static int make_memo(void **state)
{
    *state = calloc(1, sizeof(pkb_memo));
    return *state != NULL ? 0 : -1;
}

static int free_memo(void **state)
{
    pkb_memo_clear(*state);
    free(*state);
    return 0;
}

static void the_latest_record_of_a_judgement_counts(void **state)
{
    pkb_memo *memo = *state;
    assert_null(pkb_memo_find(memo, "a"));
    assert_int_equal(pkb_memo_keep(memo, "a", "first", NULL), PKB_OK);
    assert_int_equal(pkb_memo_keep(memo, "b", "other", NULL), PKB_OK);
    assert_int_equal(pkb_memo_keep(memo, "a", "second", NULL), PKB_OK);
    assert_string_equal(pkb_memo_find(memo, "a"), "second");
    assert_string_equal(pkb_memo_find(memo, "b"), "other");
    pkb_memo_clear(memo);
    assert_null(pkb_memo_find(memo, "b"));
}

static void the_oldest_go_first(void **state)
{
    pkb_memo *memo = *state;
    char name[16];
    for (int i = 0; i < PKB_MEMO_ENTRIES + 2; i++) {
        snprintf(name, sizeof name, "%d", i);
        assert_int_equal(pkb_memo_keep(memo, name, name, NULL), PKB_OK);
    }
    assert_null(pkb_memo_find(memo, "1"));
    assert_string_equal(pkb_memo_find(memo, "2"), "2");
    assert_string_equal(pkb_memo_find(memo, name), name);
    assert_int_equal(memo->count, PKB_MEMO_ENTRIES);
    pkb_memo_clear(memo);
    assert_int_equal(memo->bytes, 0);
}

static void a_memo_keeps_to_its_bytes(void **state)
{
    enum { THIRD = PKB_MEMO_BYTES / 3 + 1 };
    pkb_memo *memo = *state;
    static char text[PKB_MEMO_BYTES + 2];

    memset(text, 'x', PKB_MEMO_BYTES + 1);
    text[PKB_MEMO_BYTES + 1] = '\0';
    assert_int_equal(pkb_memo_keep(memo, "whole", text, NULL), PKB_OK);
    assert_null(pkb_memo_find(memo, "whole"));
    text[THIRD] = '\0';
    assert_int_equal(pkb_memo_keep(memo, "a", text, NULL), PKB_OK);
    assert_int_equal(pkb_memo_keep(memo, "b", text, NULL), PKB_OK);
    assert_int_equal(pkb_memo_keep(memo, "c", text, NULL), PKB_OK);
    assert_null(pkb_memo_find(memo, "a"));
    assert_non_null(pkb_memo_find(memo, "c"));
    assert_true(memo->bytes <= PKB_MEMO_BYTES);
}

#define WITH_MEMO(test) cmocka_unit_test_setup_teardown(test, make_memo, free_memo)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plain_request_leaves_the_rest_to_the_worker),
        cmocka_unit_test(every_key_is_read),
        cmocka_unit_test(what_is_wrong_is_said_beside_the_id),
        cmocka_unit_test(lines_that_are_no_request_have_no_id),
        cmocka_unit_test(a_number_is_kept_digit_by_digit),
        WITH_MEMO(the_latest_record_of_a_judgement_counts),
        WITH_MEMO(the_oldest_go_first),
        WITH_MEMO(a_memo_keeps_to_its_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
