/* SPDX-License-Identifier: Apache-2.0
 *
 * The files of a run's records: one line each, appended and synced to the one file that this writer
 * holds the lock of, and read from those of other writers. What is in them need not be judged
 * again.
 */
#ifndef PKB_EVALUATOR_RESULTS_H
#define PKB_EVALUATOR_RESULTS_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "evaluator/record/results_index.h"

/* Sees each record that is read when the files are opened. */
typedef void pkb_results_visit(void *context, const cJSON *record);

typedef struct pkb_results_options {
    const char *path;          /* of the file to write; NULL = memory that nobody else sees */
    const char *const *others; /* files that are only read */
    size_t other_count;
    pkb_results_visit *visit; /* NULL = nobody looks */
    void *context;
} pkb_results_options;

typedef struct pkb_results {
    int fd;       /* -1 = none */
    char *path;   /* for messages */
    bool is_file; /* false: in memory */
    bool is_new;  /* it was made here: closing takes it away again while nothing is in it */
    char **others;
    size_t other_count;
    pkb_results_index index;
    size_t broken_count; /* lines of the own file that are no record, left alone */
    size_t broken_line;  /* the first of them, from 1 */
    size_t cut_bytes;    /* of its last line that a kill had cut, and that was removed */
    pkb_results_visit *visit;
    void *context;
} pkb_results;

#define PKB_RESULTS_NONE \
    {                    \
        .fd = -1         \
    }

/* Opens or makes the file, locks and reads it, after the others, in which lines that are no records
 * or were cut do not matter. PKB_ERR_USAGE: somebody else writes it, or it is no ordinary file. */
pkb_code pkb_results_open(pkb_results *out, const pkb_results_options *options, pkb_error *err);
void pkb_results_close(pkb_results *results);

/* PKB_ERR_DISK leaves the file as it was; also where another one lies in its place by now. */
pkb_code pkb_results_append(pkb_results *results, const cJSON *record, pkb_error *err);

/* Reads the record of an entry; the caller frees. PKB_ERR_DISK: another one lies there by now. */
pkb_code pkb_results_read(const pkb_results *results, const pkb_results_entry *entry, cJSON **out,
                          pkb_error *err);

#endif
