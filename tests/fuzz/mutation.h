/* SPDX-License-Identifier: Apache-2.0
 *
 * Mutations of a corpus of texts. Deterministic: input number n is the same in every run.
 */
#ifndef PKB_TESTS_MUTATION_H
#define PKB_TESTS_MUTATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

enum { PKB_MUTATION_FILES = 64 };

typedef struct pkb_mutation_corpus {
    pkb_buf files[PKB_MUTATION_FILES];
    size_t count;
    const char *const *words; /* of the texts' language */
    size_t word_count;
} pkb_mutation_corpus;

/* False: it cannot be read, is empty, or there is no room for it. */
bool pkb_mutation_load(pkb_mutation_corpus *out, const char *path);
void pkb_mutation_clear(pkb_mutation_corpus *corpus);

/* What comes next follows from the number. */
void pkb_mutation_seed(uint64_t number);
size_t pkb_mutation_pick(size_t limit);
/* Appends a file with some mutations, most of which leave it nearly valid. */
void pkb_mutation_make(pkb_buf *out, const pkb_mutation_corpus *all, size_t file);
/* A copy of the exact size, so that the sanitizer sees a read past its end. The caller frees. */
char *pkb_mutation_exact(const pkb_buf *text);

#endif
