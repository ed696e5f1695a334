/* SPDX-License-Identifier: Apache-2.0
 *
 * Tests of evaluator/console/output.c and what prints through it: a loss is told, with its own
 * reason or with none. tools/build.mk puts __wrap_realloc in the place of realloc.
 */
#include "evaluator/console/output.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "evaluator/score/score_print.h"

static bool has_memory = true;

void *__real_realloc(void *old, size_t bytes);
void *__wrap_realloc(void *old, size_t bytes);

void *__wrap_realloc(void *old, size_t bytes)
{
    return has_memory ? __real_realloc(old, bytes) : NULL;
}

/* ---- streams ---- */

/* A disk that is full for some writes. */
static ssize_t write_some(void *failures, const char *data, size_t bytes)
{
    int *left = failures;

    (void)data;
    if (*left == 0)
        return (ssize_t)bytes;
    (*left)--;
    errno = ENOSPC;
    return -1;
}

static FILE *open_failing(int *failures)
{
    FILE *out = fopencookie(failures, "w", (cookie_io_functions_t){.write = write_some});
    assert_non_null(out);
    return out;
}

static void a_write_that_fails_says_why(void **state)
{
    int failures = 1;
    FILE *out = open_failing(&failures);
    pkb_error err = {0};
    (void)state;
    fputs("text", out);
    errno = ENOENT;
    assert_int_equal(pkb_output_flush_to(out, "the file", &err), PKB_ERR_DISK);
    assert_string_equal(err.message, "cannot write the file: No space left on device");
    fclose(out);
}

/* What errno holds by then is of something else. */
static void an_earlier_failure_gives_no_wrong_reason(void **state)
{
    int failures = 1;
    FILE *out = open_failing(&failures);
    pkb_error err = {0};
    (void)state;
    fputs("text", out);
    assert_int_not_equal(fflush(out), 0);
    errno = ENOENT;
    assert_int_equal(pkb_output_flush_to(out, "the file", &err), PKB_ERR_DISK);
    assert_string_equal(err.message, "a part of the file could not be written");
    fclose(out);
}

static void what_is_written_is_fine(void **state)
{
    int failures = 0;
    FILE *out = open_failing(&failures);
    (void)state;
    fputs("text", out);
    assert_int_equal(pkb_output_flush_to(out, "the file", NULL), PKB_OK);
    fclose(out);
}

/* ---- memory ---- */

static void a_table_without_memory_for_a_cell_is_none(void **state)
{
    static char name[] = "run";
    const pkb_runset runset = {.name = name};
    const pkb_score score = {.runset = &runset, .all = {.name = ""}};
    int failures = 0;
    FILE *out = open_failing(&failures);
    pkb_error err = {0};
    (void)state;
    assert_int_equal(pkb_score_csv(out, &score, &err), PKB_OK);
    has_memory = false;
    const pkb_code rc = pkb_score_csv(out, &score, &err);
    has_memory = true;
    assert_int_equal(rc, PKB_ERR_MEMORY);
    assert_non_null(strstr(err.message, "a cell"));
    fclose(out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_write_that_fails_says_why),
        cmocka_unit_test(an_earlier_failure_gives_no_wrong_reason),
        cmocka_unit_test(what_is_written_is_fine),
        cmocka_unit_test(a_table_without_memory_for_a_cell_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
