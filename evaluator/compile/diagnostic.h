/* SPDX-License-Identifier: Apache-2.0
 *
 * Compiler output cut down to the first error that matters.
 */
#ifndef PKB_EVALUATOR_DIAGNOSTIC_H
#define PKB_EVALUATOR_DIAGNOSTIC_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

typedef struct pkb_diagnostic_place {
    const char *source;          /* the attempt's file name, "013_mine.cu" */
    const char *const *prefixes; /* folders to leave out, without the last slash */
    size_t prefix_count;
} pkb_diagnostic_place;

/* Appends "013_mine.cu(12): error: ..." in one line: the first error of nvcc, gcc, ptxas or the
 * linker, with the attempt's line where the error itself lies in a header, and how many errors
 * follow. Without any error in the text: its last line. */
void pkb_diagnostic_shorten(pkb_buf *out, const char *text, const pkb_diagnostic_place *place);

/* Whether a compiler says that a program which it started was killed: its own exit status does not
 * tell. A source can have it said, too, so no verdict may follow from it. */
bool pkb_diagnostic_tells_of_kill(const char *text);

#endif
