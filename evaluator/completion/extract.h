/* SPDX-License-Identifier: Apache-2.0
 *
 * The source in a model's reply (docs/completions.md says the rules). A pure function: no I/O, no
 * allocation beyond the buffer, and the code is never edited.
 */
#ifndef PKB_EVALUATOR_EXTRACT_H
#define PKB_EVALUATOR_EXTRACT_H

#include <stddef.h>

#include "base/buf.h"

/* Changes when a reply can give another result than before. */
enum { PKB_EXTRACT_VERSION = 1 };

/* Why the model stopped. */
typedef enum pkb_finish { PKB_FINISH_UNKNOWN, PKB_FINISH_STOP, PKB_FINISH_LENGTH } pkb_finish;

/* Of what the usual servers call it: "stop", "end_turn", "length", "MAX_TOKENS"; NULL = unknown. */
pkb_finish pkb_finish_parse(const char *name);

typedef enum pkb_extract_status {
    PKB_EXTRACT_CODE,
    PKB_EXTRACT_NO_CODE,
    PKB_EXTRACT_TRUNCATED
} pkb_extract_status;

typedef struct pkb_extraction {
    pkb_extract_status status;
    const char *rule;   /* by which the code was chosen; "none" without code */
    const char *reason; /* why there is none, in one sentence; NULL with code */
    size_t block_count; /* fenced blocks of the answer, of any label */
    size_t block;       /* of them the chosen or the unfinished one, from 1; 0 = none */
} pkb_extraction;

/* "CODE", "NO_CODE", "TRUNCATED". */
const char *pkb_extract_status_name(pkb_extract_status status);

/* Appends the code of the reply. With TRUNCATED this is what there is of an unfinished block, for
 * people to look at; with NO_CODE nothing. */
pkb_extraction pkb_extract(pkb_buf *code, const char *reply, size_t bytes, pkb_finish finish);

#endif
