/* SPDX-License-Identifier: Apache-2.0
 *
 * When are two sources the same program? When they are equal but for comments and white space.
 */
#ifndef PKB_EVALUATOR_PROGRAM_H
#define PKB_EVALUATOR_PROGRAM_H

#include "base/buf.h"
#include "base/hash.h"

/* Appends the source without comments, and without white space that keeps no two words or two signs
 * apart. Strings and lines of the preprocessor stay. */
void pkb_program_plain(pkb_buf *out, const char *source, size_t bytes);

/* SHA-256 of that. */
pkb_code pkb_program_hash(char hex[PKB_HASH_HEX_BYTES], const char *source, size_t bytes,
                          pkb_error *err);

#endif
