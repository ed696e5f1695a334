/* SPDX-License-Identifier: Apache-2.0
 *
 * "Did you mean": the names nearest to a mistyped word.
 */
#ifndef PKB_EVALUATOR_SUGGEST_H
#define PKB_EVALUATOR_SUGGEST_H

#include <stddef.h>

#include "base/buf.h"

/* Edits (insert, delete, replace, swap of neighbours) between two words; case does not count.
 * Words longer than 127 bytes are cut. */
size_t pkb_suggest_distance(const char *a, const char *b);

/* Appends "; did you mean A, B or C?" with up to three names that come near, or nothing. A leading
 * "013_" of a name is left out of the comparison. */
void pkb_suggest(pkb_buf *out, const char *word, const char *const *names, size_t count);

#endif
