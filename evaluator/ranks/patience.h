/* SPDX-License-Identifier: Apache-2.0
 *
 * How long a step of an attempt may take on the CPU device, which is slow: there a limit is to end
 * what hangs, and must not decide about what is only slow.
 */
#ifndef PKB_EVALUATOR_PATIENCE_H
#define PKB_EVALUATOR_PATIENCE_H

#include <cjson/cJSON.h>

/* Seconds for one size of a plan: `base_s` and what its cost takes a plain kernel. */
double pkb_patience_s(const cJSON *size, int world, int cores, double base_s);
/* One number a size of the plan, in its order. */
cJSON *pkb_patience_of_plan(const cJSON *plan, int world, double base_s);

#endif
