/* SPDX-License-Identifier: Apache-2.0
 *
 * Samples' numbers for a file of records that a worker writes: each source that is asked for is
 * another sample of its problem, also for the next worker.
 */
#ifndef PKB_EVALUATOR_NUMBERING_H
#define PKB_EVALUATOR_NUMBERING_H

#include <cjson/cJSON.h>
#include <stdint.h>

#include "base/error.h"

/* Numbers in somebody's record beyond this are not counted on from. */
#define PKB_NUMBERING_MOST (INT64_C(1) << 40)

typedef struct pkb_numbering { /* all zero = nothing is numbered yet */
    void *samples;             /* by problem and source */
    void *next;                /* by problem */
    pkb_error failure;         /* of pkb_numbering_see; code PKB_OK = none */
} pkb_numbering;

/* Takes the number of a record of a worker; a pkb_results_visit. */
void pkb_numbering_see(void *numbering, const cJSON *record);
/* The number of that source, a new one if it has none. */
pkb_code pkb_numbering_find(pkb_numbering *numbering, const char *problem, const char *sha256,
                            int64_t *sample, pkb_error *err);
void pkb_numbering_clear(pkb_numbering *numbering);

#endif
