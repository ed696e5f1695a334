/* SPDX-License-Identifier: Apache-2.0
 *
 * The go/done words between two processes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "harness/memory/page.h"
#include "tests/unit/hung.h"

static pkb_page *shared_page(void)
{
    pkb_page *page =
        mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(page != MAP_FAILED);
    return page;
}

/* Answers `count` requests with their number. */
static pid_t start_worker(pkb_page *page, int count, bool spin)
{
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    uint32_t last = 0;
    for (int i = 0; i < count; i++) {
        last = pkb_page_wait_go(page, last, PKB_TEST_HUNG_NS, spin);
        page->return_value = (int32_t)page->call_count;
        pkb_page_finish(page, last);
    }
    _exit(0);
}

static void ping_pong(bool spin)
{
    enum { ROUNDS = 2000 };
    pkb_page *page = shared_page();
    pid_t worker = start_worker(page, ROUNDS, spin);

    for (uint32_t i = 0; i < ROUNDS; i++) {
        page->call_count = i;
        uint32_t value = pkb_page_start(page);
        assert_true(pkb_page_wait_done(page, value, PKB_TEST_HUNG_NS, spin));
        assert_int_equal(page->return_value, i);
    }
    assert_int_equal(waitpid(worker, NULL, 0), worker);
    munmap(page, sizeof *page);
}

static void requests_are_answered_in_order_by_futex(void **state)
{
    (void)state;
    ping_pong(false);
}

static void requests_are_answered_in_order_by_spinning(void **state)
{
    (void)state;
    ping_pong(true);
}

static void waiting_ends_at_the_deadline(void **state)
{
    pkb_page *page = shared_page();
    (void)state;

    for (int spin = 0; spin < 2; spin++) {
        uint64_t start_ns = pkb_clock_now_ns();
        assert_false(pkb_page_wait_done(page, 1, 30 * PKB_NS_PER_MS, spin));
        assert_int_equal(pkb_page_wait_go(page, 0, 30 * PKB_NS_PER_MS, spin), 0);
        assert_true(pkb_clock_now_ns() - start_ns >= 60 * PKB_NS_PER_MS);
    }
    munmap(page, sizeof *page);
}

static void zero_is_never_a_request(void **state)
{
    pkb_page *page = shared_page();
    (void)state;

    atomic_store(&page->go, UINT32_MAX);
    assert_int_equal(pkb_page_start(page), 1);
    assert_int_equal(pkb_page_wait_go(page, UINT32_MAX, 0, false), 1);
    munmap(page, sizeof *page);
}

static void a_worker_that_scribbles_cannot_delay_the_deadline(void **state)
{
    pkb_page *page = shared_page();
    pid_t worker = fork();
    (void)state;

    if (worker == 0) {
        for (uint32_t i = 100;; i++)
            pkb_page_finish(page, i | 0x80000000u);
    }
    assert_false(pkb_page_wait_done(page, 7, 50 * PKB_NS_PER_MS, false));
    kill(worker, SIGKILL);
    waitpid(worker, NULL, 0);
    munmap(page, sizeof *page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_are_answered_in_order_by_futex),
        cmocka_unit_test(requests_are_answered_in_order_by_spinning),
        cmocka_unit_test(waiting_ends_at_the_deadline),
        cmocka_unit_test(zero_is_never_a_request),
        cmocka_unit_test(a_worker_that_scribbles_cannot_delay_the_deadline),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
