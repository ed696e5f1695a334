/* SPDX-License-Identifier: Apache-2.0
 *
 * What scores need of a record, in little memory; the times of its batches are not looked at.
 */
#ifndef PKB_EVALUATOR_OUTCOME_H
#define PKB_EVALUATOR_OUTCOME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/stats.h"
#include "base/verdict.h"
#include "evaluator/record/names.h"

/* Under which conditions an attempt was judged. Scores mix none of them. */
typedef enum pkb_condition {
    PKB_CONDITION_RUN,
    PKB_CONDITION_DEVICE,
    PKB_CONDITION_WORLD,
    PKB_CONDITION_PROTOCOL,
    PKB_CONDITION_MACHINE,
    PKB_CONDITION_SANDBOX,
    PKB_CONDITION_SIZES,
    PKB_CONDITION_GRID,
    PKB_CONDITION_TIMING,
    PKB_CONDITION_TIMEOUT,
    PKB_CONDITION_FEEDBACK,
    PKB_CONDITION_POLICY
} pkb_condition;

enum { PKB_CONDITION_COUNT = PKB_CONDITION_POLICY + 1 };

/* "machine class", and the key that scores print it under: "machine". */
const char *pkb_condition_name(pkb_condition condition);
const char *pkb_condition_key(pkb_condition condition);
/* A record that says nothing of it was made without it ("none"), instead of not knowing. */
bool pkb_condition_is_optional(pkb_condition condition);

typedef enum pkb_size_class {
    PKB_SIZE_TINY,
    PKB_SIZE_PKB,
    PKB_SIZE_LARGE,
    PKB_SIZE_CLASSES
} pkb_size_class;

const char *pkb_size_class_name(pkb_size_class size_class);

/* How an attempt did at the sizes of a class. */
typedef struct pkb_outcome_sizes {
    size_t judged, correct;
    size_t timed;
    double log_speedup; /* sum over those timed */
} pkb_outcome_sizes;

typedef struct pkb_outcome {
    const char *problem; /* all strings are owned by the names; NULL = the record does not say */
    const char *conditions[PKB_CONDITION_COUNT];
    const char *sizes_asked; /* "large pkb tiny": sorted */
    const char *definition;  /* hash of the problem's files */
    int64_t sample;
    int64_t revision; /* how many verdicts of the attempt the record replaces */
    pkb_verdict verdict;
    bool is_debug; /* judged with --debug: no score */
    bool has_speedup;
    pkb_interval speedup;
    pkb_outcome_sizes sizes[PKB_SIZE_CLASSES];
    char judgement[PKB_HASH_HEX_BYTES], sha256[PKB_HASH_HEX_BYTES];
    size_t file, line;    /* where it stands */
    size_t offset, bytes; /* of the line in the file */
} pkb_outcome;

/* Does it count, right or wrong? INFRA_ERROR and UNSUPPORTED do not. */
bool pkb_outcome_is_judged(const pkb_outcome *outcome);

/* Reads a line, which it changes. PKB_ERR_FORMAT: it is no record, and why; PKB_ERR_USAGE: it is
 * one of a schema that this version does not know. */
pkb_code pkb_outcome_parse(pkb_outcome *out, pkb_names *names, char *line, size_t bytes,
                           pkb_error *err);

#endif
