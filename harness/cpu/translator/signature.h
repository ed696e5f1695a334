/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads the head of a kernel or device function: name, parameters, launch bounds.
 */
#ifndef PKB_PTX_SIGNATURE_H
#define PKB_PTX_SIGNATURE_H

#include "harness/cpu/translator/module.h"

/* Called behind `.entry` or `.func`; steps over the body. */
void pkb_ptx_function_read(pkb_ptx_module *module, bool is_kernel);

/* `[.align N] .b8 name[12]` behind `.param` or `.local`: what a parameter or local array is. */
pkb_ptx_param pkb_ptx_param_read(pkb_ptx_cursor *cursor, uint64_t limit_bytes);

#endif
