/* SPDX-License-Identifier: Apache-2.0
 *
 * Translates the body of one kernel or device function.
 */
#ifndef PKB_PTX_FUNCTION_H
#define PKB_PTX_FUNCTION_H

#include "harness/cpu/translator/module.h"

/* `static void f_name(pkb_thread *T, …)` without a body or semicolon. */
void pkb_ptx_function_put_head(pkb_buf *out, const pkb_ptx_function *function);

/* Appends the whole C function. */
pkb_code pkb_ptx_function_write(pkb_ptx_module *module, size_t index, pkb_buf *out);

#endif
