/* SPDX-License-Identifier: Apache-2.0
 *
 * How the judges of a world find one another: a socket in the work directory, at which rank 0
 * listens. Its connections stay: they carry the descriptors of each size's regions, and their end
 * tells of a judge's death.
 */
#ifndef PKB_HARNESS_MEETING_H
#define PKB_HARNESS_MEETING_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "harness/judge/watch.h"
#include "harness/judge/world.h"
#include "harness/sandbox/message.h"

typedef struct pkb_meeting {
    uint32_t rank, size;
    int fds[PKB_MAX_RANKS]; /* rank 0: by rank; others: [0] is rank 0; -1 = none */
    pkb_message *message;
} pkb_meeting;

/* Connects all judges and gives each the world page; `watch` learns of the connections. */
pkb_code pkb_meeting_open(pkb_meeting *meeting, pkb_judge_world *world, const char *work,
                          uint32_t rank, uint32_t size, pkb_watch *watch, pkb_error *err);

/* Each judge gives two descriptors (borrowed); `all` gets 2 * size of them (owned), by rank. */
pkb_code pkb_meeting_exchange(pkb_meeting *meeting, const int mine[2], int *all,
                              const pkb_watch *watch, pkb_error *err);
void pkb_meeting_close(pkb_meeting *meeting);

#endif
