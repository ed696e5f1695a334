/* SPDX-License-Identifier: Apache-2.0
 *
 * The go/done words; see page.h. A hostile worker may scribble on both: waiting is bounded by the
 * clock alone, never by what the page says.
 */
#include "harness/memory/page.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

/* For Python's ctypes: seen outside although everything else is hidden. */
#define PKB_EXPORT __attribute__((visibility("default")))

enum { SPINS_PER_LOOK = 128 }; /* between two looks at the clock */

static void wake(_Atomic uint32_t *word)
{
    /* The parties are processes: no FUTEX_PRIVATE_FLAG. */
    syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/* Sleeps while *word == seen, for at most `left_ns`. May return early. */
static void sleep_on(_Atomic uint32_t *word, uint32_t seen, uint64_t left_ns)
{
    struct timespec left = {.tv_sec = (time_t)(left_ns / PKB_NS_PER_S),
                            .tv_nsec = (long)(left_ns % PKB_NS_PER_S)};
    syscall(SYS_futex, word, FUTEX_WAIT, seen, &left, NULL, 0);
}

static uint64_t deadline_after(uint64_t timeout_ns)
{
    uint64_t now_ns = pkb_clock_now_ns();
    return timeout_ns > INT64_MAX - now_ns ? INT64_MAX : now_ns + timeout_ns;
}

/* Waits until (*word == value) is `wanted` or the time is up; returns the last look at *word. */
static uint32_t wait_word(_Atomic uint32_t *word, uint32_t value, bool wanted, uint64_t timeout_ns,
                          bool spin)
{
    const uint64_t deadline_ns = deadline_after(timeout_ns);

    for (;;) {
        uint32_t seen = 0;
        for (int i = 0; i < (spin ? SPINS_PER_LOOK : 1); i++) {
            seen = atomic_load_explicit(word, memory_order_acquire);
            if ((seen == value) == wanted)
                return seen;
            __builtin_ia32_pause();
        }
        uint64_t left_ns = pkb_clock_left_ns(deadline_ns);
        if (left_ns == 0)
            return seen;
        if (!spin)
            sleep_on(word, seen, left_ns);
    }
}

uint32_t pkb_page_start(pkb_page *page)
{
    uint32_t value = atomic_load_explicit(&page->go, memory_order_relaxed) + 1;
    if (value == 0)
        value = 1; /* 0 means "nothing yet" to pkb_page_wait_go */
    atomic_store_explicit(&page->go, value, memory_order_release);
    wake(&page->go);
    return value;
}

bool pkb_page_wait_done(pkb_page *page, uint32_t value, uint64_t timeout_ns, bool spin)
{
    return wait_word(&page->done, value, true, timeout_ns, spin) == value;
}

PKB_EXPORT uint32_t pkb_page_wait_go(pkb_page *page, uint32_t last, uint64_t timeout_ns, bool spin)
{
    uint32_t seen = wait_word(&page->go, last, false, timeout_ns, spin);
    return seen != last ? seen : 0;
}

PKB_EXPORT void pkb_page_finish(pkb_page *page, uint32_t value)
{
    atomic_store_explicit(&page->done, value, memory_order_release);
    wake(&page->done);
}
