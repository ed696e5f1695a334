/* SPDX-License-Identifier: Apache-2.0
 *
 * Tests of evaluator/lane/job.c: what is sent to a lane and back arrives as it was.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "evaluator/lane/job.h"

typedef struct line {
    int ends[2];
    pkb_message *message;
} line;

static int open_line(void **state)
{
    line *made = calloc(1, sizeof *made);
    if (made == NULL || pkb_socket_pair(made->ends, 0, NULL) != PKB_OK ||
        pkb_message_create(&made->message, NULL) != PKB_OK)
        return -1;
    *state = made;
    return 0;
}

static int close_line(void **state)
{
    line *made = *state;
    close(made->ends[0]);
    close(made->ends[1]);
    pkb_message_free(made->message);
    free(made);
    return 0;
}

static const pkb_message *arrived(line *to)
{
    assert_int_equal(pkb_message_receive(to->ends[1], to->message, 0, NULL), PKB_OK);
    return to->message;
}

static const pkb_message *said(line *to, const char *text)
{
    assert_int_equal(pkb_message_send(to->ends[0], text, strlen(text), NULL, 0, NULL), PKB_OK);
    return arrived(to);
}

static void a_job_arrives_with_a_source_longer_than_a_message(void **state)
{
    enum { BYTES = 1 << 20 };
    char *source = malloc(BYTES + 1);
    assert_non_null(source);
    memset(source, 'x', BYTES);
    source[BYTES] = '\0';
    const pkb_job job = {.problem = "001_allreduce",
                         .run = "a run",
                         .file = "samples/001/7.cu",
                         .sizes = "tiny,pkb",
                         .sample = 7,
                         .is_timed = true,
                         .source = source,
                         .source_bytes = BYTES};
    pkb_job got;

    assert_int_equal(pkb_job_send(((line *)*state)->ends[0], &job, NULL), PKB_OK);
    assert_int_equal(pkb_job_receive(&got, arrived(*state), NULL), PKB_OK);
    assert_string_equal(got.problem, job.problem);
    assert_string_equal(got.run, job.run);
    assert_string_equal(got.file, job.file);
    assert_string_equal(got.sizes, job.sizes);
    assert_int_equal(got.sample, 7);
    assert_true(got.is_timed);
    assert_int_equal(got.source_bytes, BYTES);
    assert_memory_equal(got.source, source, BYTES);
    pkb_job_clear(&got);
    free(source);
}

static void a_job_without_its_source_is_none(void **state)
{
    pkb_job got;
    assert_int_equal(
        pkb_job_receive(&got,
                        said(*state,
                             "{\"problem\":\"001_allreduce\",\"sample\":0,\"file\":\"x.cu\","
                             "\"sizes\":\"tiny\",\"time\":true}"),
                        NULL),
        PKB_ERR_FORMAT);
}

static void a_step_arrives(void **state)
{
    pkb_lane_reply reply;
    assert_int_equal(
        pkb_lane_reply_send_step(((line *)*state)->ends[0], "judging tiny", "check 1/6", NULL),
        PKB_OK);
    assert_int_equal(pkb_lane_reply_receive(&reply, arrived(*state), NULL), PKB_OK);
    assert_int_equal(reply.kind, PKB_REPLY_STEP);
    assert_string_equal(reply.step, "judging tiny");
    assert_string_equal(reply.detail, "check 1/6");
}

static void words_and_orders_arrive(void **state)
{
    static const pkb_reply_kind words[] = {PKB_REPLY_MAY_TIME, PKB_REPLY_TIMED, PKB_REPLY_RESTS};
    const int end = ((line *)*state)->ends[0];
    pkb_lane_reply reply;
    pkb_job job;

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        assert_int_equal(pkb_lane_reply_send_word(end, words[i], NULL), PKB_OK);
        assert_int_equal(pkb_lane_reply_receive(&reply, arrived(*state), NULL), PKB_OK);
        assert_int_equal(reply.kind, words[i]);
    }
    for (pkb_order order = PKB_ORDER_TIME; order <= PKB_ORDER_GO_ON; order++) {
        assert_int_equal(pkb_order_send(end, order, NULL), PKB_OK);
        assert_int_equal(pkb_order_of(arrived(*state)), order);
        assert_int_equal(pkb_job_receive(&job, ((line *)*state)->message, NULL), PKB_ERR_FORMAT);
    }
    assert_int_equal(pkb_order_of(said(*state, "{\"problem\":1}")), PKB_ORDER_NONE);
}

static void a_record_arrives_whole(void **state)
{
    cJSON *record = cJSON_CreateObject(), *batches = cJSON_AddArrayToObject(record, "batches");
    pkb_lane_reply reply;

    for (int i = 0; i < 100000; i++)
        cJSON_AddItemToArray(batches, cJSON_CreateNumber(i));
    assert_int_equal(pkb_lane_reply_send_record(((line *)*state)->ends[0], record, NULL), PKB_OK);
    assert_int_equal(pkb_lane_reply_receive(&reply, arrived(*state), NULL), PKB_OK);
    assert_int_equal(reply.kind, PKB_REPLY_RECORD);
    assert_true(cJSON_Compare(record, reply.record, true));
    cJSON_Delete(reply.record);
    cJSON_Delete(record);
}

static void a_failure_arrives_with_its_code(void **state)
{
    pkb_error failure = {0};
    pkb_lane_reply reply;

    pkb_error_set(&failure, PKB_ERR_USAGE, 0, "E %% P == 0 does not hold");
    assert_int_equal(
        pkb_lane_reply_send_failure(((line *)*state)->ends[0], PKB_REPLY_REFUSED, &failure, NULL),
        PKB_OK);
    assert_int_equal(pkb_lane_reply_receive(&reply, arrived(*state), NULL), PKB_OK);
    assert_int_equal(reply.kind, PKB_REPLY_REFUSED);
    assert_int_equal(reply.failure.code, PKB_ERR_USAGE);
    assert_string_equal(reply.failure.message, "E % P == 0 does not hold");
}

static void nonsense_is_no_reply(void **state)
{
    static const char *const texts[] = {"{",
                                        "{\"reply\":\"applause\"}",
                                        "{\"reply\":\"record\"}",
                                        "{\"reply\":\"failed\",\"code\":0,\"message\":\"fine\"}",
                                        "{\"reply\":\"failed\",\"code\":99,\"message\":\"?\"}",
                                        "{\"reply\":\"failed\",\"message\":\"no code\"}"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        pkb_lane_reply reply;
        assert_int_equal(pkb_lane_reply_receive(&reply, said(*state, texts[i]), NULL),
                         PKB_ERR_FORMAT);
    }
}

#define WITH_LINE(test) cmocka_unit_test_setup_teardown(test, open_line, close_line)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_LINE(a_job_arrives_with_a_source_longer_than_a_message),
        WITH_LINE(a_job_without_its_source_is_none),
        WITH_LINE(a_step_arrives),
        WITH_LINE(words_and_orders_arrive),
        WITH_LINE(a_record_arrives_whole),
        WITH_LINE(a_failure_arrives_with_its_code),
        WITH_LINE(nonsense_is_no_reply),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
