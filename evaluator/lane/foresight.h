/* SPDX-License-Identifier: Apache-2.0
 *
 * Compiles what lanes will be given next, without disturbing what they time: on cores of its own
 * where the machine has enough, else standing still meanwhile.
 */
#ifndef PKB_EVALUATOR_FORESIGHT_H
#define PKB_EVALUATOR_FORESIGHT_H

#include <sched.h>
#include <stdbool.h>

#include "evaluator/compile/ahead.h"
#include "evaluator/lane/lanes.h"

typedef struct pkb_foresight {
    pkb_ahead *ahead; /* NULL = nothing is compiled ahead */
    cpu_set_t cores;
    bool is_apart; /* on these, which no lane uses */
} pkb_foresight;

/* `job` is the caller's number of an attempt. The first is asked in this process, the second called
 * in a child for that one (ahead.h). */
typedef struct pkb_foresight_source {
    bool (*is_wanted)(void *context, size_t job);
    void (*build)(void *context, size_t job, const char *directory);
    void *context;
} pkb_foresight_source;

/* For worlds of so many ranks in all, before the first lane is started: lanes inherit the cores
 * that this process has then. Where it cannot be, and with --no-cache, it changes nothing. */
void pkb_foresight_start(pkb_foresight *out, const pkb_setting *setting, int ranks,
                         const pkb_foresight_source *source);
/* To be called whenever something was taken from the lanes, and now and then. */
void pkb_foresight_tick(pkb_foresight *foresight, const pkb_lanes *lanes);
/* For pkb_turns.before: compilers that share cores with lanes stand still when this returns.
 */
void pkb_foresight_pause(void *foresight);
void pkb_foresight_end(pkb_foresight *foresight);

#endif
