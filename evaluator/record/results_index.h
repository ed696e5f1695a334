/* SPDX-License-Identifier: Apache-2.0
 *
 * What is known of the records in the files of a run, and where each one lies.
 */
#ifndef PKB_EVALUATOR_RESULTS_INDEX_H
#define PKB_EVALUATOR_RESULTS_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/verdict.h"

typedef struct pkb_results_entry {
    char *id;
    char judgement[PKB_HASH_HEX_BYTES];
    pkb_verdict verdict; /* INFRA_ERROR is pending: none yet */
    int64_t revision;    /* how many verdicts of this attempt it follows */
    bool is_new;         /* appended since the file was opened */
    size_t file;         /* 0 = the one that is written, else others[file - 1] */
    off_t offset;        /* of its line */
    size_t bytes;
    size_t next_of_id, next_of_judgement; /* in a chain, newest first */
} pkb_results_entry;

typedef struct pkb_results_index {
    pkb_results_entry *entries;
    size_t count, capacity;
    size_t *ids, *judgements; /* chains by hash, as many as `capacity` */
} pkb_results_index;

/* A set of verdicts. */
#define PKB_VERDICT_BIT(verdict) (UINT32_C(1) << (verdict))
#define PKB_VERDICTS_ALL UINT32_MAX

typedef struct pkb_results_query {
    const char *id; /* NULL = anybody's */
    const char *judgement;
    uint32_t old_verdicts, new_verdicts; /* accepted from before, and from this call */
} pkb_results_query;

/* Takes `entry` with a copy of `id`. */
pkb_code pkb_results_index_add(pkb_results_index *index, const pkb_results_entry *entry,
                               const char *id, pkb_error *err);
void pkb_results_index_clear(pkb_results_index *index);

/* The latest that answers the query and is not pending; NULL = none. Valid until the next one is
 * added. */
const pkb_results_entry *pkb_results_index_find(const pkb_results_index *index,
                                                const pkb_results_query *query);
/* The record that counts for an attempt, as scores see it; NULL = none has a verdict. */
const pkb_results_entry *pkb_results_index_standing(const pkb_results_index *index, const char *id);
/* Does the entry answer the query, whoever's it is? */
bool pkb_results_query_accepts(const pkb_results_query *query, const pkb_results_entry *entry);
/* What the next record of an attempt has to say. */
int64_t pkb_results_index_revision(const pkb_results_index *index, const char *id);

#endif
