/* SPDX-License-Identifier: Apache-2.0
 *
 * The records that count, each read once more from where it stands: a runset keeps only what scores
 * need of them.
 */
#ifndef PKB_EVALUATOR_RUNSET_RECORD_H
#define PKB_EVALUATOR_RUNSET_RECORD_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "evaluator/score/runset.h"

typedef struct pkb_runset_reader {
    const pkb_runset *runset;
    int fd; /* of runset->files[file]; -1 = none */
    size_t file;
    char *line; /* of the last record, with a NUL behind it */
    size_t bytes, capacity_bytes;
} pkb_runset_reader;

#define PKB_RUNSET_READER(of)    \
    (pkb_runset_reader)          \
    {                            \
        .runset = (of), .fd = -1 \
    }

/* Fills `line`. PKB_ERR_USAGE: the file is another one than was read before. */
pkb_code pkb_runset_reader_line(pkb_runset_reader *reader, const pkb_outcome *outcome,
                                pkb_error *err);
/* The same, parsed; the caller frees. Without batches `line` is spent, and it is quicker. */
pkb_code pkb_runset_reader_record(pkb_runset_reader *reader, const pkb_outcome *outcome,
                                  bool has_batches, cJSON **out, pkb_error *err);
void pkb_runset_reader_close(pkb_runset_reader *reader);

#endif
