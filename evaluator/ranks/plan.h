/* SPDX-License-Identifier: Apache-2.0
 *
 * The plan of an evaluation: a problem and a world turned into numbers, by Python
 * (docs/protocol.md, section 1).
 */
#ifndef PKB_EVALUATOR_PLAN_H
#define PKB_EVALUATOR_PLAN_H

#include <cjson/cJSON.h>

#include "base/buf.h"
#include "base/error.h"
#include "evaluator/machine/tool.h"
#include "evaluator/problem/problem.h"

typedef struct pkb_plan_request {
    const char *problem;
    int world;
    const char *sizes, *grid; /* grid NULL = every one that fits */
    const char *device;
} pkb_plan_request;

typedef struct pkb_plan {
    pkb_buf text;
    cJSON *json;
    cJSON *sizes; /* names, each once: ["tiny", "tiny_empty"] */
} pkb_plan;

/* PKB_ERR_USAGE with the resolver's sentence where the world or a size is impossible. */
pkb_code pkb_plan_resolve(pkb_plan *out, const pkb_toolbox *tools, const pkb_plan_request *request,
                          pkb_error *err);
/* The plan's dims must be the fields of problem.h, in its order. */
pkb_code pkb_plan_check(const pkb_plan *plan, const pkb_problem *problem, pkb_error *err);
void pkb_plan_clear(pkb_plan *plan);

#endif
