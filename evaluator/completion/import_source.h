/* SPDX-License-Identifier: Apache-2.0
 *
 * Where completions come from: a file, or standard input. They are read twice, so what comes
 * through a pipe is copied first, into a file without a name that goes with the process.
 */
#ifndef PKB_EVALUATOR_IMPORT_SOURCE_H
#define PKB_EVALUATOR_IMPORT_SOURCE_H

#include <sys/types.h>

#include "base/error.h"
#include "base/lines.h"

typedef struct pkb_import_source {
    const char *name; /* for messages; borrowed */
    int fd;           /* of an ordinary file; -1 = none */
    off_t start;
} pkb_import_source;

#define PKB_IMPORT_SOURCE_NONE \
    {                          \
        .fd = -1               \
    }

/* "-" is standard input. PKB_ERR_USAGE: missing, no ordinary file, or plainly no file of lines. */
pkb_code pkb_import_source_open(pkb_import_source *out, const char *file, pkb_error *err);
/* From its beginning, one reader at a time. */
pkb_code pkb_import_source_lines(pkb_lines *out, const pkb_import_source *source,
                                 size_t limit_bytes, pkb_error *err);
void pkb_import_source_close(pkb_import_source *source);

#endif
