/* SPDX-License-Identifier: Apache-2.0
 *
 * What --keep leaves for a person: source, problem.h, plan, logs, what the attempt
 * printed and the built files.
 */
#ifndef PKB_EVALUATOR_KEEP_H
#define PKB_EVALUATOR_KEEP_H

#include <stddef.h>

#include "base/error.h"

/* Makes the folder if it lacks; PKB_ERR_USAGE if it holds anything. */
pkb_code pkb_keep_open(const char *folder, pkb_error *err);
/* Writes a text into it. */
pkb_code pkb_keep_text(const char *folder, const char *name, const char *text, size_t bytes,
                       pkb_error *err);
/* Copies a file into it; a missing one is left out. */
pkb_code pkb_keep_file(const char *folder, const char *path, pkb_error *err);

#endif
