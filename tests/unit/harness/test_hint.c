/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/judge/hint.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const pkb_hint_step trial = {PKB_COMMAND_RUN, 1, "trial 2 of 3", NULL};

static pkb_finding judge_answer(const pkb_page *page)
{
    pkb_finding found;
    pkb_finding_init(&found, 1);
    pkb_hint_judge_answer(&found, page, &trial);
    return found;
}

static pkb_finding judge_end(const pkb_page *page, pkb_child_exit how)
{
    pkb_finding found;
    pkb_finding_init(&found, 1);
    pkb_hint_judge_end(&found, page, &trial, &how);
    return found;
}

static void a_good_answer_says_nothing(void **state)
{
    (void)state;
    static pkb_page page;
    page.answer = PKB_ANSWER_OK;
    assert_int_equal(judge_answer(&page).verdict, PKB_VERDICT_CORRECT);
}

static void answers_become_verdicts(void **state)
{
    (void)state;
    static pkb_page page;
    page.answer = PKB_ANSWER_RETURNED;
    page.return_value = -5;
    pkb_finding found = judge_answer(&page);
    assert_int_equal(found.verdict, PKB_VERDICT_CRASH);
    assert_string_equal(found.reason, "rank 1: pkb_run returned -5 (trial 2 of 3)");
    page.answer = PKB_ANSWER_NO_SYMBOL;
    assert_int_equal(judge_answer(&page).verdict, PKB_VERDICT_ABI_ERROR);
    page.answer = PKB_ANSWER_UNSUPPORTED;
    assert_int_equal(judge_answer(&page).verdict, PKB_VERDICT_UNSUPPORTED);
    page.answer = 12345;
    assert_int_equal(judge_answer(&page).verdict, PKB_VERDICT_CRASH);
}

static void only_an_address_fault_with_its_error_is_out_of_bounds(void **state)
{
    (void)state;
    static pkb_page page;
    page.answer = PKB_ANSWER_CUDA_ERROR;
    strcpy(page.fault_kind, "illegal address");
    page.cuda_error = 719;
    assert_int_equal(judge_answer(&page).verdict, PKB_VERDICT_CRASH);
    page.cuda_error = 700;
    assert_int_equal(judge_answer(&page).verdict, PKB_VERDICT_OUT_OF_BOUNDS);
    strcpy(page.fault_kind, "trap");
    assert_int_equal(judge_answer(&page).verdict, PKB_VERDICT_CRASH);
}

static void a_fault_is_told_with_its_place(void **state)
{
    (void)state;
    static pkb_page page;
    page.answer = PKB_ANSWER_CUDA_ERROR;
    page.cuda_error = 700;
    strcpy(page.text, "write at 0x10");
    strcpy(page.fault.kernel, "k(int)");
    strcpy(page.fault.file, "a.cu");
    page.fault.line = 12;
    page.fault.thread[0] = 3;
    page.fault.counter = 1;
    pkb_finding found = judge_answer(&page);
    assert_string_equal(found.reason,
                        "rank 1: CUDA error 700 in pkb_run (trial 2 of 3): write at 0x10; kernel "
                        "k(int), block (0,0,0), thread (3,0,0), at a.cu:12");
    assert_int_equal(found.cuda_error, 700);
}

static void a_wait_that_gave_up_says_what_it_waited_for(void **state)
{
    (void)state;
    static pkb_page page;
    const pkb_hint_step step = {PKB_COMMAND_RUN, 1, "trial 2 of 3", "rank 0 never came"};
    pkb_finding found;
    page.answer = PKB_ANSWER_CUDA_ERROR;
    page.cuda_error = 719;
    strcpy(page.text, "trap was executed");
    pkb_finding_init(&found, 1);
    pkb_hint_judge_answer(&found, &page, &step);
    assert_int_equal(found.verdict, PKB_VERDICT_CRASH);
    assert_string_equal(found.reason,
                        "rank 1: CUDA error 719 in pkb_run (trial 2 of 3): rank 0 never came");
}

static void advice_comes_last(void **state)
{
    (void)state;
    pkb_finding found[2], worst;
    for (uint32_t rank = 0; rank < 2; rank++) {
        pkb_finding_init(&found[rank], rank);
        pkb_finding_set(&found[rank], PKB_VERDICT_TIMEOUT, "it did not end");
        strcpy(found[rank].waiting, "it waits");
        strcpy(found[rank].advice, "be patient");
    }
    pkb_finding_worst(&worst, found, 2);
    assert_string_equal(worst.reason, "it did not end; it waits; it waits; be patient");
}

static void an_end_is_a_crash_whatever_its_status(void **state)
{
    (void)state;
    static pkb_page page;
    pkb_finding found = judge_end(&page, (pkb_child_exit){.exited = true, .status = 0});
    assert_int_equal(found.verdict, PKB_VERDICT_CRASH);
    assert_string_equal(found.reason, "rank 1: exited with status 0 in pkb_run (trial 2 of 3)");
    found = judge_end(&page, (pkb_child_exit){.exited = true, .status = 139});
    assert_int_equal(found.signal, SIGSEGV);
    assert_non_null(strstr(found.reason, "SIGSEGV"));
    found = judge_end(&page, (pkb_child_exit){.exited = false, .signal = SIGABRT});
    assert_non_null(strstr(found.reason, "SIGABRT"));
}

static void a_kill_stays_known_whatever_else_is_found(void **state)
{
    (void)state;
    static pkb_page page;
    pkb_finding found = judge_end(&page, (pkb_child_exit){.exited = true, .status = 128 + SIGKILL});
    assert_int_equal(found.verdict, PKB_VERDICT_CRASH);
    assert_true(found.was_killed);
    assert_true(pkb_finding_set(&found, PKB_VERDICT_OUT_OF_BOUNDS, "rank 1: worse"));
    assert_true(found.was_killed);
    found = judge_end(&page, (pkb_child_exit){.signal = SIGSEGV});
    assert_false(found.was_killed);
}

static void a_forbidden_call_is_told_by_its_signal_and_named_by_the_note(void **state)
{
    (void)state;
    static pkb_page page;
    const pkb_child_exit by_filter = {.exited = true, .status = 128 + SIGSYS};
    strcpy(page.text, "fork");
    pkb_finding unnamed = judge_end(&page, by_filter);
    assert_int_equal(unnamed.verdict, PKB_VERDICT_FORBIDDEN_CALL);
    assert_null(strstr(unnamed.reason, "fork"));
    strcpy(page.fault_kind, "system call");
    pkb_finding found = judge_end(&page, by_filter);
    assert_int_equal(found.verdict, PKB_VERDICT_FORBIDDEN_CALL);
    assert_non_null(strstr(found.reason, "fork"));
    assert_int_equal(judge_end(&page, (pkb_child_exit){.exited = true, .status = 1}).verdict,
                     PKB_VERDICT_CRASH);
}

/* A page full of any byte: no read beyond a field, printable text only, never CORRECT. */
static void hostile_pages_are_harmless(void **state)
{
    (void)state;
    pkb_page *page = malloc(sizeof *page);
    for (int byte = 1; byte < 256; byte++) {
        memset(page, byte, sizeof *page);
        char waiting[64];
        pkb_finding found = judge_answer(page);
        pkb_hint_waiting(waiting, sizeof waiting, page, 0);
        assert_int_not_equal(found.verdict, PKB_VERDICT_CORRECT);
        assert_true(strlen(waiting) < sizeof waiting);
        for (const char *c = found.reason; *c != '\0'; c++)
            assert_in_range(*c, 0x20, 0x7e);
        found = judge_end(page, (pkb_child_exit){.exited = true});
        assert_int_equal(found.verdict, PKB_VERDICT_CRASH);
    }
    free(page);
}

static void the_call_is_named_in_longer_batches(void **state)
{
    (void)state;
    static pkb_page page;
    pkb_hint_words words;
    const pkb_hint_step chain = {PKB_COMMAND_CHAIN, 4, NULL, NULL};
    page.phase = PKB_PHASE_RUN;
    page.phase_call = 1;
    pkb_hint_phase(&words, &page, &chain);
    assert_string_equal(words.phase, "pkb_run, call 2 of 4");
    page.phase_call = 4; /* a lie */
    pkb_hint_phase(&words, &page, &chain);
    assert_string_equal(words.phase, "pkb_run");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_good_answer_says_nothing),
        cmocka_unit_test(answers_become_verdicts),
        cmocka_unit_test(only_an_address_fault_with_its_error_is_out_of_bounds),
        cmocka_unit_test(a_fault_is_told_with_its_place),
        cmocka_unit_test(a_wait_that_gave_up_says_what_it_waited_for),
        cmocka_unit_test(advice_comes_last),
        cmocka_unit_test(an_end_is_a_crash_whatever_its_status),
        cmocka_unit_test(a_kill_stays_known_whatever_else_is_found),
        cmocka_unit_test(a_forbidden_call_is_told_by_its_signal_and_named_by_the_note),
        cmocka_unit_test(hostile_pages_are_harmless),
        cmocka_unit_test(the_call_is_named_in_longer_batches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
