/* SPDX-License-Identifier: Apache-2.0
 *
 * What the records know of an attempt that is about to be judged.
 */
#ifndef PKB_EVALUATOR_KNOWN_H
#define PKB_EVALUATOR_KNOWN_H

#include <cjson/cJSON.h>

#include "evaluator/attempt/evaluation.h"
#include "evaluator/record/results.h"
#include "evaluator/run/rejudge.h"

typedef enum pkb_known_kind {
    PKB_KNOWN_NOT,   /* it has to be judged */
    PKB_KNOWN_OWN,   /* its record counts already */
    PKB_KNOWN_OLDER, /* its record was followed by that of another source or other options */
    PKB_KNOWN_EQUAL  /* the record of an attempt with the same source */
} pkb_known_kind;

typedef struct pkb_known {
    pkb_known_kind kind;
    const pkb_results_entry *entry; /* valid until the next append */
    int64_t revision;               /* of the record that it gets now */
    char judgement[PKB_HASH_HEX_BYTES];
} pkb_known;

/* A call with timing takes a verdict that was found without it, unless that is CORRECT; one
 * without timing takes any that was found with it. */
pkb_code pkb_known_find(pkb_known *out, const pkb_results *results, const pkb_rejudge *rejudge,
                        const pkb_evaluation *evaluation, pkb_error *err);
/* The record that the attempt has or gets without being judged; the caller frees. Not of
 * PKB_KNOWN_NOT. */
pkb_code pkb_known_record(cJSON **out, const pkb_known *known, const pkb_results *results,
                          const pkb_evaluation *evaluation, pkb_error *err);

#endif
