/* SPDX-License-Identifier: Apache-2.0
 *
 * What a judge sends its cell once, before anything of the attempt is loaded: one message on the
 * socket at PKB_CELL_SOCKET_FD, with the descriptors attached in the order below.
 */
#ifndef PKB_HARNESS_CELL_OPEN_H
#define PKB_HARNESS_CELL_OPEN_H

#include <stdint.h>

#include "harness/memory/layout.h"

enum { PKB_CELL_SOCKET_FD = 3, PKB_CELL_OPEN_VERSION = 2 };

/* Per slot, what is no tensor: scalars and drawn dims, as the bits of an int64_t or double.
 * In a region of its own, written by the judge before go, mapped read-only by the cell. */
typedef struct pkb_slot_values {
    uint64_t scalars[PKB_MAX_ARGUMENTS];
    int64_t dims[PKB_MAX_DIMS];
} pkb_slot_values;

typedef enum pkb_cell_fd {
    PKB_CELL_FD_LAYOUT,  /* memfd, pkb_layout of this rank */
    PKB_CELL_FD_PAGE,    /* pkb_page */
    PKB_CELL_FD_VALUES,  /* slot_count x pkb_slot_values */
    PKB_CELL_FD_STAGING, /* this rank's staging slots (slots_bytes) */
    PKB_CELL_FD_HOST,    /* host arguments, slot layout (slots_bytes, sparse) */
    PKB_CELL_FD_ARENAS   /* then 2 per rank: slots region, symmetric region */
} pkb_cell_fd;

typedef struct pkb_cell_open {
    uint32_t version; /* PKB_CELL_OPEN_VERSION */
    uint32_t fd_count;
    uint64_t random; /* spreads the address range */
    uint64_t memory_limit_bytes;
    uint32_t sandbox_level;
    uint32_t cores; /* usable by the whole world, for the choice to spin */
    uint32_t stays; /* 1: other sizes may follow, so the socket stays open */
} pkb_cell_open;

#endif
