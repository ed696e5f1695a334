/* SPDX-License-Identifier: Apache-2.0
 *
 * What a cell may use up, set before an attempt is loaded.
 */
#ifndef PKB_HARNESS_CELL_LIMITS_H
#define PKB_HARNESS_CELL_LIMITS_H

#include <stdint.h>

#include "base/error.h"

/* `memory_bytes` of private memory beyond what the process has now; 0 = no limit. RLIMIT_AS is of
 * no use: address plans are large and sparse. */
pkb_code pkb_limits_set(uint64_t memory_bytes, pkb_error *err);

/* No core dumps, not even by a program that /proc/sys/kernel/core_pattern names, and no debugger.
 */
pkb_code pkb_limits_hide_memory(pkb_error *err);

#endif
