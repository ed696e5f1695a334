/* SPDX-License-Identifier: Apache-2.0
 *
 * One cell for several sizes: between two of them it is vacated, and serves the next one only where
 * nothing of the attempt is left on any rank. Collective, so that all ranks do the same.
 */
#ifndef PKB_HARNESS_STAY_H
#define PKB_HARNESS_STAY_H

#include <stdbool.h>
#include <stdint.h>

#include "harness/judge/attempt.h"

/* After a size that was right, torn down: vacates attempt->cell. Where another size may have it, it
 * stands still with nothing in it; else the caller frees it, and the log says why. */
pkb_code pkb_stay_vacate(pkb_attempt *attempt, bool *may_stay, pkb_error *err);

/* Closes the size that is open and looks whether its memory is free again on the GPU: a vacated
 * cell that still holds some, on any rank, is freed and becomes NULL. Nothing to do where that is.
 */
pkb_code pkb_stay_drop_size(pkb_judge *judge, pkb_cell **vacated, pkb_error *err);

/* Opens the size in the vacated cell: attempt->cell. NULL where that failed on any rank: the cell
 * is gone then, and the size needs a new one. */
pkb_code pkb_stay_take(pkb_attempt *attempt, pkb_cell *vacated, uint64_t timeout_ns,
                       pkb_error *err);

#endif
