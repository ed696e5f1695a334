/* SPDX-License-Identifier: Apache-2.0
 *
 * How often this machine has run out of memory.
 */
#ifndef PKB_EVALUATOR_OOM_H
#define PKB_EVALUATOR_OOM_H

#include <stdint.h>

/* Processes that the kernel has killed for want of memory since it started; 0 if it does not say.
 */
uint64_t pkb_oom_kills(void);

#endif
