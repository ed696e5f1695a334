/* SPDX-License-Identifier: Apache-2.0
 *
 * Compares all outputs of one call with what is expected of its draw, and words what is wrong.
 */
#ifndef PKB_HARNESS_OUTPUTS_H
#define PKB_HARNESS_OUTPUTS_H

#include <stdint.h>

#include "harness/judge/finding.h"
#include "harness/judge/memory.h"
#include "harness/judge/plan.h"

typedef struct pkb_outputs_place {
    const void *image; /* holds the outputs, in a slot's layout */
    uint32_t entry;    /* what they should be */
    uint64_t poison_key;
    const char *phase;    /* "pkb_run, trial 2 of 3" */
    const char *comment;  /* appended to the reason; "" = none */
    uint32_t past_count;  /* entries that the attempt saw before, */
    const uint32_t *past; /* for the question whether it replays one of them */
} pkb_outputs_place;

/* WRONG_OUTPUT, or STATE_REPLAY where the output is right for an earlier draw. */
void pkb_outputs_compare(const pkb_memory *memory, const pkb_plan_size *size,
                         const pkb_outputs_place *place, pkb_finding *finding);

#endif
