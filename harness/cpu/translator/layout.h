/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds what each kernel can reach and places its shared variables.
 */
#ifndef PKB_PTX_LAYOUT_H
#define PKB_PTX_LAYOUT_H

#include "harness/cpu/translator/module.h"

/* Variables that several kernels reach lie first, at one offset for all; those of one kernel
 * overlap those of others. Also reads the variables that are declared inside bodies. */
pkb_code pkb_ptx_layout(pkb_ptx_module *module);

#endif
