/* SPDX-License-Identifier: Apache-2.0
 *
 * evaluator/record/outcome.c, record_line.c, names.c: what scores take from a record, and what is
 * none.
 */
#include "evaluator/record/outcome.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "evaluator/record/record_line.h"

#define SIZE(name, class, verdict, value)                                               \
    "{\"size\":\"" name                                                                 \
    "\",\"class\":\"" class "\",\"verdict\":\"" verdict "\",\"speedup\":"               \
                            "{\"eager\":{\"value\":" value                              \
                            ",\"low\":1,\"high\":8}},\"batches\":[{\"side\":\"eager\"," \
                            "\"rank_ns\":[1,2]}]}"
#define HEAD                                                                           \
    "\"schema\":1,\"id\":\"r/013_x/4/cuda/2\",\"judgement\":\"aa\",\"run\":\"r\","     \
    "\"problem\":\"013_x\",\"sample\":4,\"source_sha256\":\"bb\",\"device\":\"cuda\"," \
    "\"world\":2"
#define TAIL                                                                      \
    "\"versions\":{\"protocol\":1},\"machine\":{\"host\":\"h\",\"class\":\"M\"}," \
    "\"flags\":{\"sizes\":\"pkb,large\",\"timing\":true,\"timeout_s\":20}"

/* A record of this run, device and world. */
#define OF(run, device, world)                                                          \
    "{\"schema\":1,\"judgement\":\"aa\",\"problem\":\"013_x\",\"sample\":4,"            \
    "\"source_sha256\":\"bb\",\"verdict\":\"CRASH\",\"run\":" run ",\"device\":" device \
    ",\"world\":" world "," TAIL "}"

static pkb_names names;

static pkb_code parse(pkb_outcome *out, const char *text, pkb_error *err)
{
    char *line = strdup(text);
    assert_non_null(line);
    const pkb_code rc = pkb_outcome_parse(out, &names, line, strlen(line), err);
    free(line);
    return rc;
}

static void a_timed_record_is_read(void **state)
{
    pkb_outcome o = {0};
    (void)state;
    assert_int_equal(
        parse(&o,
              "{" HEAD
              ",\"verdict\":\"CORRECT\",\"sizes\":[" SIZE("pkb", "pkb", "CORRECT", "2") "," SIZE(
                  "large", "large", "CORRECT", "8") "],"
                                                    "\"sizes_asked\":[\"pkb\",\"large\"]," TAIL "}",
              NULL),
        PKB_OK);
    assert_string_equal(o.problem, "013_x");
    assert_int_equal(o.sample, 4);
    assert_string_equal(o.conditions[PKB_CONDITION_WORLD], "2");
    assert_string_equal(o.conditions[PKB_CONDITION_MACHINE], "M");
    assert_string_equal(o.conditions[PKB_CONDITION_SIZES], "large pkb");
    assert_string_equal(o.conditions[PKB_CONDITION_TIMING], "on");
    assert_string_equal(o.sizes_asked, "large pkb");
    assert_null(o.conditions[PKB_CONDITION_GRID]);
    assert_true(o.has_speedup && fabs(o.speedup.value - 4) < 1e-12);
    assert_int_equal(o.sizes[PKB_SIZE_PKB].correct, 1);
    assert_true(fabs(o.sizes[PKB_SIZE_LARGE].log_speedup - log(8)) < 1e-12);
    assert_int_equal(o.sizes[PKB_SIZE_TINY].judged, 0);
}

static void demand_none(const char *text, const char *word, pkb_code wanted)
{
    pkb_outcome o = {0};
    pkb_error err = {0};
    assert_int_equal(parse(&o, text, &err), wanted);
    if (strstr(err.message, word) == NULL)
        fail_msg("\"%s\" lacks \"%s\"", err.message, word);
}

static void what_is_no_record_says_why(void **state)
{
    static const struct {
        const char *text, *word;
    } cases[] = {
        {"", "JSON"},
        {"nonsense", "JSON"},
        {"[1]", "object"},
        {"{" HEAD ",\"verdict\":\"CORR", "JSON"},
        {"{}", "schema"},
        {"{" HEAD "," TAIL "}", "verdict"},
        {"{" HEAD ",\"verdict\":\"GREAT\"," TAIL "}", "GREAT"},
        {"{" HEAD ",\"verdict\":\"CRASH\",\"verdict\":\"CORRECT\"," TAIL "}", "verdict"},
        {"{" HEAD ",\"verdict\":\"CRASH\",\"where\":{\"a\":1,\"a\":2}," TAIL "}", "twice"},
        {"{" HEAD ",\"verdict\":\"CORRECT\"," TAIL "}", "no size"},
        {"{" HEAD ",\"verdict\":\"CORRECT\",\"sizes\":[" SIZE("pkb", "pkb", "CRASH", "2") "]," TAIL
                                                                                          "}",
         "pkb is not"},
        {"{" HEAD ",\"verdict\":\"CORRECT\",\"sizes\":[" SIZE(
             "pkb", "pkb", "CORRECT", "2") "],\"sizes_asked\":[\"large\"]," TAIL "}",
         "large was not judged"},
        {OF("\"\"", "\"cuda\"", "2"), "\"run\" is empty"},
        {OF("\"r\"", "\"gpu\"", "2"), "no device \"gpu\""},
        {OF("\"r\"", "\"cuda\"", "0"), "\"0\" is no number of ranks"},
        {OF("\"r\"", "\"cuda\"", "2.5"), "\"2.5\" is no number of ranks"},
        {OF("\"r\"", "\"cuda\"", "-2"), "no number of ranks"},
        {OF("\"r\"", "\"cuda\"", "[2]"), "neither text nor number"},
        {"{\"schema\":1,\"judgement\":\"a\",\"problem\":\"../../x\",\"sample\":0}", "problem"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        demand_none(cases[i].text, cases[i].word, PKB_ERR_FORMAT);
    demand_none("{\"schema\":2}", "schema is 2", PKB_ERR_USAGE);
}

/* Comparing each with each would take minutes. */
static void a_million_keys_are_looked_through(void **state)
{
    enum { KEYS = 1000000 };
    pkb_buf text = {0};
    pkb_outcome o = {0};
    pkb_error err = {0};
    (void)state;
    pkb_buf_printf(&text, "{" HEAD ",\"verdict\":\"CRASH\"," TAIL ",\"more\":{\"0\":0");
    for (int i = 1; i < KEYS; i++)
        pkb_buf_printf(&text, ",\"%d\":0", i);
    const size_t bytes = text.bytes;
    pkb_buf_append_string(&text, "}}");
    assert_int_equal(parse(&o, pkb_buf_text(&text), NULL), PKB_OK);
    text.bytes = bytes;
    pkb_buf_printf(&text, ",\"%d\":1}}", KEYS - 1);
    assert_int_equal(parse(&o, pkb_buf_text(&text), &err), PKB_ERR_FORMAT);
    assert_non_null(strstr(err.message, "\"999999\" stands twice in it"));
    pkb_buf_clear(&text);
}

static void demand_strip(const char *text, const char *wanted)
{
    char line[256];
    snprintf(line, sizeof line, "%s", text);
    line[pkb_record_line_strip(line, strlen(line), NULL)] = '\0';
    assert_string_equal(line, wanted);
}

static void batches_are_emptied_and_nothing_else(void **state)
{
    (void)state;
    demand_strip("", "");
    demand_strip("{\"a\":[1]}", "{\"a\":[1]}");
    demand_strip("{\"batches\":[{\"r\":[1,[2]]},{}],\"b\":1}", "{\"batches\":[],\"b\":1}");
    demand_strip("[\"batches\":[],\"batches\":[[]]]x", "[\"batches\":[],\"batches\":[]]x");
    demand_strip("{\"a\":\"\\\"batches\\\":[1]\"}", "{\"a\":\"\\\"batches\\\":[1]\"}");
    demand_strip("{\"a\":\"\\\"batches\":[1]", "{\"a\":\"\\\"batches\":[1]");
    demand_strip("{\"batches\":[1,[2]", "{\"batches\":[1,[2]");
    demand_strip("{\"batches\":[\001]}", "{\"batches\":[\001]}");
    demand_strip("{\"batches\": [ {\"rank_ns\": [1, 2]} ]}", "{\"batches\": []}");
}

/* A record of two ranks whose size has these batches. */
static pkb_code parse_batches(const char *batches, pkb_error *err)
{
    pkb_outcome o = {0};
    pkb_buf text = {0};

    pkb_buf_printf(&text,
                   "{" HEAD ",\"verdict\":\"CRASH\",\"sizes\":[{\"size\":\"pkb\",\"verdict\":"
                   "\"CRASH\",\"batches\":%s}]," TAIL "}",
                   batches);
    const pkb_code rc = parse(&o, pkb_buf_text(&text), err);
    pkb_buf_clear(&text);
    return rc;
}

static void every_batch_has_the_times_of_all_ranks(void **state)
{
    static const struct {
        const char *batches, *word;
    } cases[] = {
        {"[{\"rank_ns\":[1,2]},{\"rank_ns\":[1]}]", "times of 1 ranks, and there were 2"},
        {"[{\"rank_ns\":[1,2,3]},{\"rank_ns\":[1,2]}]", "times of 3 ranks"},
        {"[{\"rank_ns\": [ ]}]", "times of 0 ranks"},
        {"[{\"rank_ns\":[1,2]},{\"pair\":1}]", "no times of ranks"},
        {"[{\"rank_ns\":7}]", "no times of ranks"},
        {"[{\"side\":\"a#b\",\"rank_ns\":[1,2]}]", "are none"},
        {"{}", "are none"},
    };
    (void)state;
    assert_int_equal(parse_batches("[]", NULL), PKB_OK);
    assert_int_equal(parse_batches("[{\"n\":1,\"rank_ns\":[1,2]}]", NULL), PKB_OK);
    assert_int_equal(parse_batches("[ {\"rank_ns\": [1, 2], \"n\": 3, \"pair\": 4} ]", NULL),
                     PKB_OK);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        pkb_error err = {0};
        assert_int_equal(parse_batches(cases[i].batches, &err), PKB_ERR_FORMAT);
        if (strstr(err.message, cases[i].word) == NULL)
            fail_msg("\"%s\" lacks \"%s\"", err.message, cases[i].word);
    }
}

static void equal_names_have_one_address(void **state)
{
    pkb_names many = {0};
    char text[32];
    const char *first[500];
    (void)state;
    for (int i = 0; i < 500; i++) {
        snprintf(text, sizeof text, "name %d", i);
        first[i] = pkb_names_keep(&many, text);
        assert_string_equal(first[i], text);
    }
    for (int i = 0; i < 500; i++) {
        snprintf(text, sizeof text, "name %d", i);
        assert_ptr_equal(pkb_names_keep(&many, text), first[i]);
    }
    assert_int_equal(many.count, 500);
    pkb_names_clear(&many);
}

static int tear_down(void **state)
{
    (void)state;
    pkb_names_clear(&names);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_timed_record_is_read),
        cmocka_unit_test(what_is_no_record_says_why),
        cmocka_unit_test(a_million_keys_are_looked_through),
        cmocka_unit_test(batches_are_emptied_and_nothing_else),
        cmocka_unit_test(every_batch_has_the_times_of_all_ranks),
        cmocka_unit_test(equal_names_have_one_address),
    };
    return cmocka_run_group_tests(tests, NULL, tear_down);
}
