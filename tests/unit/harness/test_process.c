/* SPDX-License-Identifier: Apache-2.0
 *
 * harness/judge/process.c: a process that is told to stop stands still, has ended, comes too late
 * or defies. A stop that does not arrive is one that goes to another process.
 */
#include "harness/judge/process.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

enum { CALLS = 30 };

static void *sleep_on(void *nothing)
{
    for (;;)
        pause();
    return nothing;
}

static void *run_on(void *nothing)
{
    for (volatile uint64_t i = 0;; i++)
        ;
    return nothing;
}

/* A process of two threads that do this. */
static pkb_process start(void *(*work)(void *))
{
    pkb_process process = PKB_PROCESS_NONE;
    pkb_error err = {0};
    pid_t pid = fork();

    if (pid == 0) {
        pthread_t thread;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (pthread_create(&thread, NULL, work, NULL) != 0)
            _exit(1);
        work(NULL);
    }
    if (pkb_process_take(&process, pid, &err) != PKB_OK)
        fail_msg("%s", err.message);
    return process;
}

static void end(pkb_process *process)
{
    pkb_process_kill(process);
    waitpid(process->pid, NULL, 0);
    pkb_process_release(process);
}

/* Signals to it go to `other`. */
static pkb_process deaf(const pkb_process *process, const pkb_process *other)
{
    return (pkb_process){.pid = process->pid, .pidfd = other->pidfd};
}

static void a_process_that_stops_stands_still(void **state)
{
    pkb_process idle = start(sleep_on), busy = start(run_on);
    (void)state;

    assert_int_equal(pkb_process_stop(&idle, PKB_STOP_TIMEOUT_NS), PKB_STOP_DONE);
    assert_int_equal(pkb_process_stop(&busy, PKB_STOP_TIMEOUT_NS), PKB_STOP_DONE);
    pkb_process_continue(&busy);
    assert_int_equal(pkb_process_stop(&busy, PKB_STOP_TIMEOUT_NS), PKB_STOP_DONE);
    end(&idle);
    end(&busy);
}

static void one_that_has_ended_is_not_stopped(void **state)
{
    pkb_process gone = start(sleep_on);
    (void)state;

    pkb_process_kill(&gone);
    assert_int_equal(pkb_process_stop(&gone, PKB_STOP_TIMEOUT_NS), PKB_STOP_ENDED);
    end(&gone);
}

/* No accusation: it ran nothing of its own. */
static void one_that_gets_no_processor_is_late(void **state)
{
    pkb_process idle = start(sleep_on), other = start(sleep_on);
    const pkb_process late = deaf(&idle, &other);
    (void)state;

    assert_int_equal(pkb_process_stop(&late, PKB_NS_PER_S / 2), PKB_STOP_LATE);
    end(&idle);
    end(&other);
}

static void one_that_runs_on_defies(void **state)
{
    pkb_process busy = start(run_on), other = start(sleep_on);
    const pkb_process defiant = deaf(&busy, &other);
    pkb_stop how = PKB_STOP_LATE;
    (void)state;

    for (int i = 0; i < CALLS && how == PKB_STOP_LATE; i++) /* it may get little of a processor */
        how = pkb_process_stop(&defiant, PKB_NS_PER_S);
    assert_int_equal(how, PKB_STOP_DEFIED);
    end(&busy);
    end(&other);
}

static void its_threads_are_listed(void **state)
{
    enum { THREADS = 2 };
    pkb_process process = start(sleep_on), none = PKB_PROCESS_NONE;
    pid_t ids[THREADS] = {0};
    (void)state;

    while (pkb_process_list_threads(&process, ids, THREADS) < THREADS) /* it only begins */
        pkb_clock_sleep_ns(PKB_NS_PER_MS);
    assert_true(ids[0] == process.pid || ids[1] == process.pid);
    assert_int_not_equal(ids[0], ids[1]);
    ids[1] = 0;
    assert_int_equal(pkb_process_list_threads(&process, ids, 1), THREADS);
    assert_int_equal(ids[1], 0);
    assert_int_equal(pkb_process_list_threads(&none, ids, THREADS), 0);
    end(&process);
    assert_int_equal(pkb_process_list_threads(&process, ids, THREADS), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_process_that_stops_stands_still),
        cmocka_unit_test(one_that_has_ended_is_not_stopped),
        cmocka_unit_test(one_that_gets_no_processor_is_late),
        cmocka_unit_test(one_that_runs_on_defies),
        cmocka_unit_test(its_threads_are_listed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
