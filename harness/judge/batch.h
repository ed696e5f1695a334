/* SPDX-License-Identifier: Apache-2.0
 *
 * One timed batch of the reference or of the attempt: n calls on n slots between one go and one
 * done, on the judge's clock. Both sides take the same path: slots filled, the device claimed,
 * judges meet, go, done, and where the device has a sampler, its end is the stop stamp.
 */
#ifndef PKB_HARNESS_JUDGE_BATCH_H
#define PKB_HARNESS_JUDGE_BATCH_H

#include <stdint.h>

#include "base/error.h"
#include "harness/judge/attempt.h"

typedef struct pkb_batch { /* call i is on slots[i], filled from entries[i] */
    uint32_t slots[PKB_MAX_SLOTS], entries[PKB_MAX_SLOTS];
} pkb_batch;

/* A new order of all slots and draws, the same on all ranks. */
void pkb_batch_draw(pkb_attempt *attempt, pkb_batch *batch);

/* Times the batch's first `calls` slots; `all_ns` gets a time of each rank. The attempt's ends with
 * attempt->worst set, and all_ns counts only where that is clean: its outputs were compared. */
typedef pkb_code pkb_batch_time(pkb_attempt *attempt, const pkb_batch *batch, uint32_t calls,
                                uint64_t *all_ns, pkb_error *err);
pkb_batch_time pkb_batch_time_reference, pkb_batch_time_attempt;

#endif
