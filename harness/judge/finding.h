/* SPDX-License-Identifier: Apache-2.0
 *
 * What one rank found out about an attempt: a verdict with its reason and place. Plain data, since
 * it lies in the page that the judges share.
 */
#ifndef PKB_HARNESS_FINDING_H
#define PKB_HARNESS_FINDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/verdict.h"
#include "harness/memory/layout.h"

typedef struct pkb_finding {
    pkb_verdict verdict; /* PKB_VERDICT_CORRECT: nothing found */
    uint32_t rank;
    char reason[640];  /* one sentence */
    char phase[160];   /* "pkb_run, trial 2 of 3" */
    char waiting[400]; /* where a thread of this rank waited; "" = unknown */
    char advice[64];   /* what ends the reason; "" = nothing */
    char output[PKB_NAME_BYTES];
    uint64_t index[PKB_MAX_SHAPE];
    uint32_t index_count;
    bool has_index;
    char expected[48], got[48]; /* numbers as text; "" = none */
    int32_t signal, cuda_error; /* 0 = none */
    bool was_killed;            /* a cell died of SIGKILL, which something worse may hide */
} pkb_finding;

void pkb_finding_init(pkb_finding *finding, uint32_t rank);
bool pkb_finding_is_clean(const pkb_finding *finding);

/* Takes a new verdict with its reason; ignored (false) unless worse than what is already found. */
bool pkb_finding_set(pkb_finding *finding, pkb_verdict verdict, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The place of element `element` of `argument` on the finding's rank; `shape` has its axes. */
void pkb_finding_place(pkb_finding *finding, const pkb_argument *argument, const uint64_t *shape,
                       uint64_t element);
/* "C[3, 17]", or "C" without an index. */
void pkb_finding_place_text(const pkb_finding *finding, char *out, size_t bytes);

/* The worst of several, then the lowest rank; a TIMEOUT's reason gets all ranks' waiting places,
 * every reason its advice. A kill anywhere is in it. */
void pkb_finding_worst(pkb_finding *out, const pkb_finding *findings, size_t count);

#endif
