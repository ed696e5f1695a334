/* SPDX-License-Identifier: Apache-2.0
 *
 * The attempts in a folder (docs/runs.md): samples/<problem>/<k>.cu, <problem>.cu and
 * <problem>/<any>.cu. The first three digits of a name decide the problem.
 */
#ifndef PKB_EVALUATOR_SAMPLES_H
#define PKB_EVALUATOR_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "evaluator/problem/catalogue.h"

typedef struct pkb_sample {
    const char *problem; /* borrowed from the catalogue */
    int64_t number;      /* k, from 0 */
    char *path;
} pkb_sample;

/* What could have been meant, and is not judged. */
typedef struct pkb_left {
    const char *problem; /* borrowed; an attempt at it is missing. NULL = it names none */
    char *path;
    const char *why; /* "is a directory": the predicate of a sentence */
} pkb_left;

typedef struct pkb_samples {
    pkb_sample *items; /* by problem, then number */
    size_t count, capacity;
    pkb_left *left;
    size_t left_count, left_capacity;
    char *renamed; /* the first path that is not named as its problem is; NULL = none */
    const char *renamed_problem;
} pkb_samples;

/* Links out of the folder, pipes and devices are left, and nothing is opened. PKB_ERR_USAGE: it is
 * no folder, holds no attempt, or two files for one sample, which are named. The caller clears. */
pkb_code pkb_samples_find(pkb_samples *out, const char *folder, const pkb_catalogue *catalogue,
                          pkb_error *err);
/* Keeps what is of the problems of which `is_wanted` (by their place in the catalogue). */
void pkb_samples_select(pkb_samples *samples, const pkb_catalogue *catalogue,
                        const bool *is_wanted);
void pkb_samples_clear(pkb_samples *samples);

#endif
