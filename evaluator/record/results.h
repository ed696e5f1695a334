/* SPDX-License-Identifier: Apache-2.0
 *
 * The file of a run's records: one line each, appended and synced by the one writer that holds its
 * lock. What is in it need not be judged again.
 */
#ifndef PKB_EVALUATOR_RESULTS_H
#define PKB_EVALUATOR_RESULTS_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/hash.h"

typedef struct pkb_results_entry {
    char *id;
    char judgement[PKB_HASH_HEX_BYTES];
    bool is_pending; /* INFRA_ERROR: no verdict yet */
    bool is_new;     /* appended since the file was opened */
    off_t offset;    /* of its line */
    size_t bytes;
} pkb_results_entry;

typedef struct pkb_results {
    int fd;       /* -1 = none */
    char *path;   /* for messages */
    bool is_file; /* false: in memory */
    pkb_results_entry *entries;
    size_t count, capacity;
    size_t broken_count; /* lines that are no record, left alone */
    size_t broken_line;  /* the first of them, from 1 */
    size_t cut_bytes;    /* of a last line that a kill had cut, and that was removed */
} pkb_results;

#define PKB_RESULTS_NONE \
    {                    \
        .fd = -1         \
    }

/* Opens or makes the file, locks and reads it; NULL = memory that nobody else sees. PKB_ERR_USAGE:
 * somebody else writes it, or it is no ordinary file. */
pkb_code pkb_results_open(pkb_results *out, const char *path, pkb_error *err);
void pkb_results_close(pkb_results *results);

/* PKB_ERR_DISK leaves the file as it was; also where another one lies in its place by now. */
pkb_code pkb_results_append(pkb_results *results, const cJSON *record, pkb_error *err);

/* The last record with that judgement and a verdict that is not pending; `id` NULL = anybody's.
 * NULL = none. Valid until the next append. */
const pkb_results_entry *pkb_results_find(const pkb_results *results, const char *id,
                                          const char *judgement, bool only_new);
/* Reads the record of an entry; the caller frees. PKB_ERR_DISK: another one lies there by now. */
pkb_code pkb_results_read(const pkb_results *results, const pkb_results_entry *entry, cJSON **out,
                          pkb_error *err);

#endif
