/* SPDX-License-Identifier: Apache-2.0
 *
 * Monotonic time in nanoseconds, the only clock of the project.
 */
#ifndef PKB_BASE_CLOCK_H
#define PKB_BASE_CLOCK_H

#include <stdint.h>

#define PKB_NS_PER_S UINT64_C(1000000000)
#define PKB_NS_PER_MS UINT64_C(1000000)

uint64_t pkb_clock_now_ns(void);
void pkb_clock_sleep_ns(uint64_t ns); /* goes on after a signal */

/* Nanoseconds left until `deadline_ns`, 0 once it has passed. */
uint64_t pkb_clock_left_ns(uint64_t deadline_ns);
/* The same as a timeout for poll(2): milliseconds, rounded up. */
int pkb_clock_left_ms(uint64_t deadline_ns);

#endif
