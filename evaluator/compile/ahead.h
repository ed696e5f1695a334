/* SPDX-License-Identifier: Apache-2.0
 *
 * Compiles coming attempts into the cache while earlier ones are judged, each in a child process of
 * low priority, so that the ordinary way to a build finds it there. Nothing depends on it but time:
 * what it does not build is built when it is wanted.
 */
#ifndef PKB_EVALUATOR_AHEAD_H
#define PKB_EVALUATOR_AHEAD_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum { PKB_AHEAD_MOST = 16, PKB_AHEAD_AT_ONCE = 4 };

/* Jobs are numbered from 0, mostly in the order in which they will be wanted. */
typedef struct pkb_ahead_options {
    size_t most;            /* built or being built before they are wanted; <= PKB_AHEAD_MOST */
    size_t at_once;         /* being built; <= PKB_AHEAD_AT_ONCE */
    uint64_t timeout_ns;    /* of a job; while it is paused no time passes for it */
    const cpu_set_t *cores; /* where they run; NULL = where the caller does */
    /* Called in the caller's process: is the job worth a child? */
    bool (*is_wanted)(void *context, size_t job);
    /* Called in the child, which then ends: builds in an empty directory. It has no descriptors of
     * the caller's and speaks to nobody. */
    void (*build)(void *context, size_t job, const char *directory);
    void *context;
} pkb_ahead_options;

typedef struct pkb_ahead pkb_ahead;

/* Where it cannot work (an error) everything goes on without it: every other function takes NULL.
 */
pkb_code pkb_ahead_start(pkb_ahead **out, const pkb_ahead_options *options, pkb_error *err);
/* There are jobs below `end`, and those below `begun` are wanted now or were: they are not begun
 * here any more. Neither goes back. */
void pkb_ahead_move(pkb_ahead *ahead, size_t begun, size_t end);
/* The same of one job, where they are not wanted in the order of their numbers. */
void pkb_ahead_take(pkb_ahead *ahead, size_t job);
/* To be called now and then: ends what is over, begins what is next. */
void pkb_ahead_tick(pkb_ahead *ahead);
/* While it is paused none of its processes runs: each is stopped as soon as the system lets it be,
 * mostly before this returns, else while pkb_ahead_tick is called. */
void pkb_ahead_pause(pkb_ahead *ahead, bool is_paused);
/* Kills what still runs. */
void pkb_ahead_end(pkb_ahead *ahead);

#endif
