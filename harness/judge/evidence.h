/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether an attempt's files bear out what its cell says. UNSUPPORTED is outside of n, so a cell's
 * word for it is not enough: the instruction or call must be in what was built from the attempt.
 */
#ifndef PKB_HARNESS_JUDGE_EVIDENCE_H
#define PKB_HARNESS_JUDGE_EVIDENCE_H

#include <stdbool.h>

/* `text` is the cell's sentence, "... does not support X"; X has to stand in the device part (an
 * instruction) or the host part (a CUDA call, a launch with clusters). False when it does not, or
 * when a file cannot be read. */
bool pkb_evidence_is_unsupported(const char *text, const char *host_path, const char *device_path);

#endif
