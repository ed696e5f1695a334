/* SPDX-License-Identifier: Apache-2.0
 *
 * A module of ours in Python, run for what it prints.
 */
#ifndef PKB_EVALUATOR_MODULE_H
#define PKB_EVALUATOR_MODULE_H

#include "base/buf.h"
#include "base/error.h"
#include "evaluator/machine/tool.h"

/* Runs `python -m argv...` in the project's root; argv[0] is the module, and a NULL ends the list.
 * Appends what it prints. PKB_ERR_USAGE: it refused what it was asked (exit status 2), with the
 * first line that it said. */
pkb_code pkb_module_run(pkb_buf *output, const pkb_toolbox *tools, const char *const *argv,
                        unsigned timeout_s, pkb_error *err);

#endif
