/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes .global and .const variables as C arrays of bytes, and the function that fills in
 * addresses, which are not known before the module is loaded.
 */
#ifndef PKB_PTX_INITIALIZER_H
#define PKB_PTX_INITIALIZER_H

#include "harness/cpu/translator/module.h"

/* Appends the arrays to `out` and statements for addresses to `init`. */
pkb_code pkb_ptx_variables_write(pkb_ptx_module *module, pkb_buf *out, pkb_buf *init);

#endif
