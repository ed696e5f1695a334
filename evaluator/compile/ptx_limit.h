/* SPDX-License-Identifier: Apache-2.0
 *
 * How much PTX the CPU device takes. Large initialised arrays become text or object files of many
 * times their size, which the translator and gcc chew on for minutes.
 */
#ifndef PKB_EVALUATOR_PTX_LIMIT_H
#define PKB_EVALUATOR_PTX_LIMIT_H

#include <stdbool.h>

#include "base/buf.h"

enum { PKB_PTX_LIMIT_MIB = 64 };

/* Looks at the size of a file that may still grow; true, with the reason appended, if it is too
 * large already. A missing file is none. */
bool pkb_ptx_is_too_large(const char *path, pkb_buf *reason);
/* The same for the initialised variables in a complete file. */
bool pkb_ptx_has_large_arrays(const char *path, pkb_buf *reason);

#endif
