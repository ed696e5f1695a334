/* SPDX-License-Identifier: Apache-2.0
 *
 * SHA-256 of several pieces, each with its length, so that ("ab","c") and ("a","bc") differ.
 */
#ifndef PKB_BASE_HASH_H
#define PKB_BASE_HASH_H

#include <stddef.h>

#include "base/error.h"

enum { PKB_HASH_HEX_BYTES = 65 }; /* 64 hex digits and a NUL */

typedef struct pkb_hash pkb_hash;

pkb_code pkb_hash_create(pkb_hash **out, pkb_error *err);
void pkb_hash_add(pkb_hash *hash, const void *data, size_t bytes);
void pkb_hash_add_text(pkb_hash *hash, const char *text);
/* Adds a file's content (not its name). */
pkb_code pkb_hash_add_file(pkb_hash *hash, const char *path, pkb_error *err);
/* Writes the hex digest and frees the hash. */
pkb_code pkb_hash_finish(pkb_hash *hash, char hex[PKB_HASH_HEX_BYTES], pkb_error *err);
void pkb_hash_free(pkb_hash *hash);

/* Plain SHA-256 of one buffer, as sha256sum prints it. */
pkb_code pkb_hash_bytes(const void *data, size_t bytes, char hex[PKB_HASH_HEX_BYTES],
                        pkb_error *err);

/* Fills `out` from the kernel's random source. */
pkb_code pkb_random_bytes(void *out, size_t bytes, pkb_error *err);

#endif
