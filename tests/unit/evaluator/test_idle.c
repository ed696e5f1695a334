/* SPDX-License-Identifier: Apache-2.0
 *
 * Tests of evaluator/machine/process.c: what the hook of a wait may do.
 */
#include "evaluator/machine/process.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static pkb_code let_time_run_out(void *context, pkb_error *err)
{
    (void)err;
    *(uint64_t *)context = 0;
    return PKB_OK;
}

static void it_may_move_the_deadline(void **state)
{
    static const char *const argv[] = {"sleep", "3600", NULL};
    const pkb_process_options options = {.argv = argv};
    uint64_t deadline_ns = UINT64_MAX;
    const pkb_idle idle = {.tick = let_time_run_out, .context = &deadline_ns};
    pkb_process process;
    pkb_child_exit how;
    (void)state;

    assert_int_equal(pkb_process_start(&process, &options, NULL), PKB_OK);
    assert_int_equal(pkb_process_finish(&process, &deadline_ns, &idle, &how, NULL, NULL),
                     PKB_ERR_TIMEOUT);
    assert_int_equal(process.child.pid, 0);
}

static pkb_code refuse(void *context, pkb_error *err)
{
    (void)context;
    return pkb_error_set(err, PKB_ERR_INTERRUPTED, 0, "enough");
}

static void its_error_ends_the_wait_and_the_process(void **state)
{
    static const char *const argv[] = {"sleep", "3600", NULL};
    const pkb_process_options options = {.argv = argv};
    const uint64_t deadline_ns = UINT64_MAX;
    const pkb_idle idle = {.tick = refuse};
    pkb_process process;
    pkb_child_exit how;
    (void)state;

    assert_int_equal(pkb_process_start(&process, &options, NULL), PKB_OK);
    assert_int_equal(pkb_process_finish(&process, &deadline_ns, &idle, &how, NULL, NULL),
                     PKB_ERR_INTERRUPTED);
    assert_int_equal(process.child.pid, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_may_move_the_deadline),
        cmocka_unit_test(its_error_ends_the_wait_and_the_process),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
