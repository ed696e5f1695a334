/* SPDX-License-Identifier: Apache-2.0
 *
 * Is an output right? Judges what a pass over one rank's tensor found (survey.h), no copies.
 *
 * float: three errors against the oracle, each at most max(tolerance, 4 x the reference's own):
 *   norm   ||out - oracle|| / ||oracle||
 *   block  the same over at most 64 blocks of rows, relative to the RMS of the whole oracle
 *   max    largest |out - oracle| / RMS(oracle)
 * and NaN and infinities stand exactly where the oracle, rounded to the dtype, has them.
 * exact: equal numbers (floats: to the rounded oracle). quantized: the oracle's code or its other
 * acceptable one.
 */
#ifndef PKB_HARNESS_COMPARE_H
#define PKB_HARNESS_COMPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "harness/memory/layout.h"

enum { PKB_COMPARE_BLOCKS = 64 };

typedef struct pkb_tolerance {
    double norm, block, max;
} pkb_tolerance;

struct pkb_judge_device; /* device.h */

typedef struct pkb_comparison {
    const struct pkb_judge_device *device; /* where the data lies; NULL = in ordinary memory */
    pkb_dtype dtype;
    pkb_check check;
    const void *out;
    const void *reference;   /* same dtype; float only; NULL = no own error to allow for */
    const void *oracle;      /* pkb_dtype_oracle_bytes each */
    const void *alternative; /* quantized only; NULL = none */
    size_t element_count;
    size_t row_count; /* blocks are made of whole rows; 0 = one row */
    pkb_tolerance tolerance;
} pkb_comparison;

typedef struct pkb_mismatch {
    bool is_wrong;
    bool is_unfinished;  /* the pass did not look at everything: it says nothing of the output, and
                            is_wrong is set so that nobody takes it for a right one */
    const char *metric;  /* "exact", "code", "norm", "block", "max", "non-finite", "unfinished" */
    size_t index;        /* the element that shows it: first (exact) or worst (float) */
    size_t wrong_count;  /* elements beyond the limit of one element, at least 1 */
    double error, limit; /* of the metric, relative; float only */
} pkb_mismatch;

pkb_mismatch pkb_compare(const pkb_comparison *comparison);

/* The three errors of a `float` output, relative as in a tolerance; all infinite where NaN and
 * infinities stand elsewhere, or the pass did not look at everything. Needs no tolerance. */
pkb_tolerance pkb_compare_errors(const pkb_comparison *comparison);

/* Writes the expected element in the form of the output's dtype. */
void pkb_compare_expected_text(const pkb_comparison *comparison, size_t index, char *out,
                               size_t bytes);

#endif
