/* SPDX-License-Identifier: Apache-2.0
 *
 * The rest of the runtime API: each function notes its name and fails. CUDA's header is left out
 * on purpose: arguments are ignored, so the functions take none.
 */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

#include "harness/cpu/cudart/unsupported.h"

#pragma GCC visibility push(default)

#define UNSUPPORTED(name)                                       \
    int name(void);                                             \
    int name(void)                                              \
    {                                                           \
        return pkb_api_unsupported(PKB_UNSUPPORTED_CALL #name); \
    }
#include "harness/cpu/cudart/unsupported.def"

#pragma GCC visibility pop
