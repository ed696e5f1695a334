/* SPDX-License-Identifier: Apache-2.0
 *
 * What the judge's kernels (kernels.cu) are told and what they answer: plain C on both sides.
 */
#ifndef PKB_HARNESS_JUDGE_KERNELS_H
#define PKB_HARNESS_JUDGE_KERNELS_H

#include <stdint.h>

/* The text of the kernels, in PTX. */
extern const char pkb_kernels_ptx[];

typedef struct pkb_kernel_span { /* pkb_span */
    uint64_t base, begin, end, key, other;
} pkb_kernel_span;

typedef struct pkb_kernel_place { /* pkb_sample */
    uint64_t element, bytes;
} pkb_kernel_place;

/* An output to look at, by parts (survey.h). */
typedef struct pkb_kernel_output {
    uint64_t out, reference, oracle, alternative; /* 0 = none */
    uint64_t parts, rows, blocks;
    uint64_t element_count, element_bytes;
    uint32_t dtype; /* pkb_dtype of a part */
    uint32_t parts_of_element;
    uint32_t rule; /* pkb_tally_rule */
    uint32_t padding;
    double top, limit, smallest_unit; /* largest finite number; of a tally; spacing near zero */
} pkb_kernel_output;

/* What one thread block found in its piece of one block of rows. */
typedef struct pkb_kernel_piece {
    double out_sum, reference_sum, oracle_sum;
    double out_largest, reference_largest;
    uint64_t out_largest_at, reference_largest_at;
    uint64_t finite_count, non_finite_count, non_finite_at;
    uint64_t part_count; /* looked at */
} pkb_kernel_piece;

typedef struct pkb_kernel_tally {
    uint64_t wrong_count, element_count; /* 0 before; elements looked at */
    uint64_t first;                      /* of the wrong ones; all ones before */
} pkb_kernel_tally;

#endif
