/* SPDX-License-Identifier: Apache-2.0
 *
 * The page that the judges of a world share: their barrier, a word that stops an attempt on all
 * ranks, and what each rank found. Judges trust one another; no cell ever sees it.
 */
#ifndef PKB_HARNESS_WORLD_H
#define PKB_HARNESS_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "harness/judge/finding.h"
#include "harness/judge/watch.h"
#include "harness/memory/region.h"

typedef struct pkb_world_page pkb_world_page;

typedef struct pkb_judge_world {
    uint32_t rank, size;
    uint32_t cores;         /* usable by all ranks together */
    bool spin;              /* cores >= 3 * size */
    uint32_t meeting_count; /* which of two places for findings and numbers is in use */
    pkb_region region;
    pkb_world_page *page;
    const pkb_watch *watch; /* borrowed */
} pkb_judge_world;

/* Rank 0 makes the page; the others adopt its descriptor (taken over). */
pkb_code pkb_judge_world_create(pkb_judge_world *world, uint32_t size, const pkb_watch *watch,
                                pkb_error *err);
pkb_code pkb_judge_world_adopt(pkb_judge_world *world, uint32_t rank, uint32_t size, int fd,
                               const pkb_watch *watch, pkb_error *err);
void pkb_judge_world_clear(pkb_judge_world *world);

/* Until all judges are here. Fails when the watch does. */
pkb_code pkb_judge_world_barrier(pkb_judge_world *world, pkb_error *err);

/* A barrier at which each rank brings a number; `all` gets `size` of them. */
pkb_code pkb_judge_world_share(pkb_judge_world *world, uint64_t mine, uint64_t *all,
                               pkb_error *err);

/* A barrier at which each rank brings what it found; `worst` gets the one that counts. */
pkb_code pkb_judge_world_settle(pkb_judge_world *world, const pkb_finding *mine, pkb_finding *worst,
                                pkb_error *err);

/* Tells all ranks that this attempt cannot go on; a barrier at the start of a size clears it. */
void pkb_judge_world_abort(pkb_judge_world *world);
bool pkb_judge_world_is_aborted(const pkb_judge_world *world);
pkb_code pkb_judge_world_begin(pkb_judge_world *world, pkb_error *err);

#endif
