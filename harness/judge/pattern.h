/* SPDX-License-Identifier: Apache-2.0
 *
 * Keyed byte patterns: what guard zones and poisoned outputs hold. The byte at a place depends on
 * the key and on the place alone, so any part can be verified by itself. Pure functions.
 */
#ifndef PKB_HARNESS_PATTERN_H
#define PKB_HARNESS_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Fills bytes [begin, end) of `base` with the pattern. No byte is 0 or 1, so that no poison is a
 * boolean. */
void pkb_pattern_fill(void *base, uint64_t begin, uint64_t end, uint64_t key);

/* The pattern's words [first, first + count): what it holds there, in a place of its own. */
void pkb_pattern_fill_words(void *out, uint64_t first, size_t count, uint64_t key);

/* True if [begin, end) still holds it; else `*at` is the first byte that does not. */
bool pkb_pattern_holds(const void *base, uint64_t begin, uint64_t end, uint64_t key, uint64_t *at);

/* A sum over [begin, end) of `base` that changes with any change of them (not against an adversary
 * who knows the key). Words may be added in any order: many threads can share the work. */
uint64_t pkb_pattern_digest(const void *base, uint64_t begin, uint64_t end, uint64_t key);

#endif
