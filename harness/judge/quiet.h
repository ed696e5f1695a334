/* SPDX-License-Identifier: Apache-2.0
 *
 * Is the device ours alone? Work that an attempt leaves running on a GPU goes on while its process
 * is stopped, and slows whatever is timed beside it: the reference. A kernel of the judge that
 * always does the same work notices.
 */
#ifndef PKB_HARNESS_QUIET_H
#define PKB_HARNESS_QUIET_H

#include <stdbool.h>
#include <stdint.h>

#include "harness/judge/attempt.h"

/* Before a cell exists: how long the probe takes on this rank. 0 where a device needs none. */
pkb_code pkb_quiet_measure(pkb_judge *judge, uint64_t *quiet_ns, pkb_error *err);

/* With all cells stopped or gone: is the probe as quick as then, on all ranks? Collective. */
pkb_code pkb_quiet_listen(pkb_judge *judge, uint64_t quiet_ns, pkb_loud *loud, pkb_error *err);

/* Pure: longer than noise and a switch between contexts explain. */
bool pkb_quiet_is_disturbed(uint64_t took_ns, uint64_t quiet_ns);

#endif
