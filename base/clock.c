/* SPDX-License-Identifier: Apache-2.0
 *
 * Monotonic time; see clock.h.
 */
#include "base/clock.h"

#include <errno.h>
#include <limits.h>
#include <time.h>

uint64_t pkb_clock_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * PKB_NS_PER_S + (uint64_t)now.tv_nsec;
}

void pkb_clock_sleep_ns(uint64_t ns)
{
    struct timespec left = {.tv_sec = (time_t)(ns / PKB_NS_PER_S),
                            .tv_nsec = (long)(ns % PKB_NS_PER_S)};
    while (clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left) == EINTR)
        ;
}

uint64_t pkb_clock_left_ns(uint64_t deadline_ns)
{
    uint64_t now_ns = pkb_clock_now_ns();
    return now_ns < deadline_ns ? deadline_ns - now_ns : 0;
}

int pkb_clock_left_ms(uint64_t deadline_ns)
{
    uint64_t left_ms = (pkb_clock_left_ns(deadline_ns) + PKB_NS_PER_MS - 1) / PKB_NS_PER_MS;
    return left_ms > INT_MAX ? INT_MAX : (int)left_ms;
}
