/* SPDX-License-Identifier: Apache-2.0
 *
 * How many worlds a machine has room for: who takes which GPUs, and which cores go with them.
 */
#ifndef PKB_EVALUATOR_ROOM_H
#define PKB_EVALUATOR_ROOM_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "evaluator/attempt/setting.h"

enum { PKB_ROOM_MOST = 64 };

/* A place for worlds of one device: a GPU each, or on the CPU device a world each. */
typedef struct pkb_room {
    size_t place_count;
    int gpus[PKB_ROOM_MOST]; /* of each place; the CPU device has none */
    bool has_gpus;
    uint64_t taken; /* a bit a place */
} pkb_room;

/* The places of a call: its GPUs (none without), and --worlds on the CPU device. PKB_ERR_USAGE:
 * --gpus does not suffice for --worlds. */
pkb_code pkb_room_find(pkb_room *gpu_room, pkb_room *cpu_room, const pkb_setting *setting,
                       pkb_error *err);
/* Worlds of `ranks` that fit. */
size_t pkb_room_worlds(const pkb_room *room, int ranks);

/* Places that a world of `ranks` wants. */
size_t pkb_room_wanted(const pkb_room *room, int ranks);
size_t pkb_room_free(const pkb_room *room);
/* Takes the first free places; 0 = there are not enough. Given back with pkb_room_leave. */
uint64_t pkb_room_take(pkb_room *room, int ranks);
void pkb_room_leave(pkb_room *room, uint64_t places);

/* "2,3": the GPUs of those places. */
void pkb_room_gpus(char *out, size_t bytes, const pkb_room *room, uint64_t places);

/* The share of `all` cores that goes with those places. False: that would be less than three a
 * rank (a judge, a cell and a runner), so that all worlds share all cores. */
bool pkb_room_cores(cpu_set_t *out, const cpu_set_t *all, const pkb_room *room, uint64_t places,
                    int ranks);

#endif
