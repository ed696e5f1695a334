/* SPDX-License-Identifier: Apache-2.0
 *
 * What a cell is given for its attempt at one size: the judge's regions, mapped at their places,
 * and the world made of them. Where the judge keeps the cell, one size follows another.
 */
#ifndef PKB_HARNESS_CELL_SESSION_H
#define PKB_HARNESS_CELL_SESSION_H

#include "base/error.h"
#include "harness/cell/device.h"
#include "harness/cell/runtime.h"
#include "harness/cell/world.h"
#include "harness/memory/page.h"
#include "harness/sandbox/message.h"

typedef struct pkb_session {
    int socket_fd;        /* the judge's; -1 = no further size will come */
    pkb_message *message; /* the last one; its descriptors are taken */
    pkb_cell_open opening;
    pkb_runtime runtime;
    const pkb_device *device;
    pkb_page *page;           /* the same for all sizes */
    const pkb_layout *layout; /* NULL = no size is open; these three are mapped read-only */
    const pkb_slot_values *values;
    const char *host_arguments;
    void *stream;     /* of all calls at this size */
    uint64_t arenas;  /* device address of rank 0's arena */
    uint64_t staging; /* and of this rank's staging slots */
    pkb_world world;
} pkb_session;

/* Opens the device and says hello on the judge's socket, which it takes over. */
pkb_code pkb_session_start(pkb_session *session, int socket_fd, pkb_error *err);
/* Receives the judge's opening message and maps everything. The descriptors are closed afterwards,
 * the socket too unless the cell stays for other sizes. */
pkb_code pkb_session_open(pkb_session *session, pkb_error *err);
/* Unmaps all of a size but the page. Nothing may use it any more. */
pkb_code pkb_session_close(pkb_session *session, pkb_error *err);

#endif
