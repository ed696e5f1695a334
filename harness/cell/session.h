/* SPDX-License-Identifier: Apache-2.0
 *
 * What a cell is given for its one attempt at one size: the judge's regions, mapped at their
 * places, and the world made of them.
 */
#ifndef PKB_HARNESS_CELL_SESSION_H
#define PKB_HARNESS_CELL_SESSION_H

#include "base/error.h"
#include "harness/cell/device.h"
#include "harness/cell/runtime.h"
#include "harness/cell/world.h"
#include "harness/memory/page.h"

typedef struct pkb_session {
    pkb_cell_open opening;
    pkb_runtime runtime;
    const pkb_device *device;
    const pkb_layout *layout; /* read-only mappings but for the page */
    const pkb_slot_values *values;
    const char *host_arguments;
    pkb_page *page;
    void *stream;     /* of all calls */
    uint64_t staging; /* device address of this rank's staging slots */
    pkb_world world;
} pkb_session;

/* Opens the device, says hello on the judge's socket, receives its message and maps everything. The
 * descriptors are closed afterwards, the socket too. */
pkb_code pkb_session_open(pkb_session *session, int socket_fd, pkb_error *err);

#endif
