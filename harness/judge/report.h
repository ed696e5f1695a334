/* SPDX-License-Identifier: Apache-2.0
 *
 * The verdict as rank 0 tells it: the fields verdict, reason, where, sizes and cost_s of a result
 * record (docs/design.md, section 9).
 */
#ifndef PKB_HARNESS_REPORT_H
#define PKB_HARNESS_REPORT_H

#include <stddef.h>

#include "base/json.h"
#include "harness/judge/attempt.h"

/* The event; the caller frees. At least one result. */
cJSON *pkb_report_verdict(const pkb_size_result *results, size_t count, uint32_t world);

#endif
