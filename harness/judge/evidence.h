/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether an attempt's files bear out what its cell says. UNSUPPORTED is outside of n, so a cell's
 * word for it is not enough: the instruction or call must be in what was built from the attempt.
 */
#ifndef PKB_HARNESS_JUDGE_EVIDENCE_H
#define PKB_HARNESS_JUDGE_EVIDENCE_H

#include <stdbool.h>

typedef struct pkb_evidence {
    const char *host_path;    /* of the attempt: its imports */
    const char *device_path;  /* of the attempt: the translator's strings; NULL = none */
    const char *library_path; /* our libcudart: the calls that it lacks */
} pkb_evidence;

/* `text` is the cell's sentence, "... does not support X". An instruction has to be a whole string
 * in the device part; a CUDA call has to be among those that our library lacks and that the host
 * part names; clusters have to be asked for. False when not, or when a file cannot be read. */
bool pkb_evidence_is_unsupported(const pkb_evidence *evidence, const char *text);

#endif
