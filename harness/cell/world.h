/* SPDX-License-Identifier: Apache-2.0
 *
 * The world as an attempt sees it: ranks, groups, peers, symmetric memory; and the arguments of a
 * call. Pure arithmetic on a layout and addresses; maps nothing itself.
 */
#ifndef PKB_HARNESS_CELL_WORLD_H
#define PKB_HARNESS_CELL_WORLD_H

#include <stdbool.h>
#include <stdint.h>

#include "harness/cell/abi.h"
#include "harness/memory/cell_open.h"
#include "harness/memory/layout.h"

enum { PKB_MAX_FIELDS = PKB_MAX_ARGUMENTS + PKB_MAX_DIMS };

typedef struct pkb_call_args { /* the problem's pkb_args: arguments, then dims, 8 bytes each */
    uint64_t fields[PKB_MAX_FIELDS];
} pkb_call_args;

struct pkb_world {
    const pkb_layout *layout;
    uint64_t base;                 /* device address of rank 0's arena */
    const char *host_arguments;    /* this process's read-only view, slot layout */
    const pkb_slot_values *values; /* one per slot */
    uint64_t timeout_ns;
    uint64_t symmetric_used; /* bytes, the barriers' words included */
    bool is_in_setup;
    int32_t group_ranks[PKB_MAX_AXES][PKB_MAX_RANKS];
    pkb_group_info groups[PKB_MAX_AXES];
};

void pkb_world_init(pkb_world *world, const pkb_layout *layout, uint64_t base,
                    const void *host_arguments, const pkb_slot_values *values);
/* Symmetric memory is free again: at set-up's start and after teardown. */
void pkb_world_reset_symmetric(pkb_world *world);

/* Device address of an argument in one of this rank's slots. */
uint64_t pkb_world_argument_address(const pkb_world *world, uint32_t slot,
                                    const pkb_argument *argument);

/* Arguments of pkb_run on one slot, and of pkb_setup: no data, maxima, host arrays of slot 0. */
void pkb_world_run_args(const pkb_world *world, uint32_t slot, pkb_call_args *out);
void pkb_world_setup_args(const pkb_world *world, pkb_call_args *out);

#endif
