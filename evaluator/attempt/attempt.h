/* SPDX-License-Identifier: Apache-2.0
 *
 * The source of an attempt, as it came.
 */
#ifndef PKB_EVALUATOR_ATTEMPT_H
#define PKB_EVALUATOR_ATTEMPT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/hash.h"

enum { PKB_ATTEMPT_LIMIT_BYTES = 1 << 20 };

typedef struct pkb_attempt {
    char *source;
    size_t bytes;
    char file_name[128]; /* without folders; "attempt.cu" where it would not suit a compiler */
    char sha256[PKB_HASH_HEX_BYTES];
    bool is_blank; /* nothing but white space: NO_CODE */
} pkb_attempt;

/* PKB_ERR_USAGE names the file and the remedy: missing, unreadable, a directory, too large or
 * binary. */
pkb_code pkb_attempt_read(pkb_attempt *out, const char *path, pkb_error *err);
/* The same of a text that is there already; `path` is what it is called. */
pkb_code pkb_attempt_copy(pkb_attempt *out, const char *path, const char *source, size_t bytes,
                          pkb_error *err);
void pkb_attempt_clear(pkb_attempt *attempt);

#endif
