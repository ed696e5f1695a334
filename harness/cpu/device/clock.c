/* SPDX-License-Identifier: Apache-2.0
 *
 * Clocks of device code, and nanosleep. Cycles are those of the time-stamp counter.
 */
#include "harness/cpu/device/device.h"

#include <time.h>
#include <x86intrin.h>

uint64_t pkb_clock64(void)
{
    return __rdtsc();
}

uint64_t pkb_globaltimer(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* The time is an upper limit of what a GPU waits, too; others get their turn, which is the point.
 */
void pkb_nanosleep(pkb_thread *thread, uint32_t ns)
{
    (void)ns;
    pkb_yield(thread);
}
