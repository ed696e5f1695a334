/* SPDX-License-Identifier: Apache-2.0
 *
 * The resolved problem (docs/protocol.md, section 1) as C structures: what lies where, how each
 * output is compared in each input family, and within what.
 */
#ifndef PKB_HARNESS_PLAN_H
#define PKB_HARNESS_PLAN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "harness/judge/compare.h"
#include "harness/memory/layout.h"

enum { PKB_MAX_FAMILIES = 16 };

typedef struct pkb_output_rule {
    pkb_check checks[PKB_MAX_FAMILIES]; /* by index of the family */
    pkb_tolerance tolerance;
} pkb_output_rule;

typedef struct pkb_plan_size {
    char name[PKB_NAME_BYTES], class_name[PKB_NAME_BYTES], grid[PKB_NAME_BYTES];
    char families[PKB_MAX_FAMILIES][PKB_NAME_BYTES];
    size_t family_count;
    pkb_output_rule rules[PKB_MAX_ARGUMENTS]; /* by index of the argument; outputs only */
    pkb_layout layout;                        /* not placed: no slots or entries yet */
} pkb_plan_size;

typedef struct pkb_plan {
    char problem[PKB_NAME_BYTES * 2];
    char file[4096]; /* the problem's JSON file */
    uint32_t world;
    bool is_deterministic;
    pkb_plan_size *sizes;
    size_t size_count;
} pkb_plan;

/* Reads a plan for this rank; the caller frees. */
pkb_code pkb_plan_read(pkb_plan **out, const char *path, uint32_t rank, pkb_error *err);
pkb_code pkb_plan_parse(pkb_plan **out, const char *text, size_t bytes, uint32_t rank,
                        pkb_error *err);
void pkb_plan_free(pkb_plan *plan);

/* Whether `wanted` (a name or a class) means that size. */
bool pkb_plan_size_is(const pkb_plan_size *size, const char *wanted);

#endif
