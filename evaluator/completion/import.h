/* SPDX-License-Identifier: Apache-2.0
 *
 * Makes samples of a run from a file of completions (docs/completions.md), in bounded memory.
 */
#ifndef PKB_EVALUATOR_IMPORT_H
#define PKB_EVALUATOR_IMPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "evaluator/problem/catalogue.h"

typedef struct pkb_import_options {
    const char *file, *folder; /* the file "-" is standard input */
    bool replaces;             /* samples that are there and differ */
} pkb_import_options;

typedef struct pkb_import_result {
    size_t code_count, no_code_count, truncated_count; /* of all lines */
    size_t kept_count;                                 /* of these were there already */
    size_t planned_problems, planned_samples;          /* by the run.json that was made; 0 = kept */
    size_t model_count;                                /* that the lines name */
} pkb_import_result;

/* The file is read twice: first every line is looked at, and only if all are well is anything
 * written. PKB_ERR_USAGE: some are not; they were named on stderr, with their numbers. Each file
 * appears whole, the source last; at the end comes run.json, if there is none. */
pkb_code pkb_import(const pkb_import_options *options, const pkb_catalogue *catalogue,
                    pkb_import_result *out, pkb_error *err);

#endif
