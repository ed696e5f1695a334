/* SPDX-License-Identifier: Apache-2.0
 *
 * Multicast of NVLink switches can take the GPUs of a shared host out of service, so no session
 * allows it: a build that names it is refused before anything of it runs.
 */
#ifndef PKB_EVALUATOR_MULTICAST_H
#define PKB_EVALUATOR_MULTICAST_H

#include <stdbool.h>

#include "base/buf.h"

/* Whether the attempt's PTX has multimem instructions, or its host part names a function of the
 * driver's multicast objects; then with the reason appended. A name that is only put together when
 * it runs is not found. NULL = there is no such file. */
bool pkb_multicast_is_used(const char *ptx, const char *host, pkb_buf *reason);

#endif
