/* SPDX-License-Identifier: Apache-2.0
 *
 * A judge: all that one lives with, from its start to its end.
 */
#ifndef PKB_HARNESS_JUDGE_H
#define PKB_HARNESS_JUDGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "harness/judge/control.h"
#include "harness/judge/device.h"
#include "harness/judge/gpus.h"
#include "harness/judge/meeting.h"
#include "harness/judge/memory.h"
#include "harness/judge/options.h"
#include "harness/judge/plan.h"
#include "harness/judge/runner.h"
#include "harness/judge/watch.h"
#include "harness/judge/world.h"

typedef struct pkb_judge {
    pkb_judge_options options;
    pkb_watch watch;
    pkb_control control;
    pkb_meeting meeting;
    pkb_judge_world world;
    pkb_judge_gpus *gpus; /* NULL on the CPU */
    const pkb_judge_device *device;
    pkb_plan *plan;
    pkb_runner *runner;
    char secret[65];

    /* the size that is open; NULL = none */
    const pkb_plan_size *size;
    pkb_memory *memory;
    uint32_t trial_count;      /* entries [0, trial_count) are trials, */
    uint32_t chain_slot_count; /* the rest are for two chains, on this many slots each */
    bool has_fresh_draws;      /* no attempt has seen them */
    uint64_t next_trial;       /* numbers draws; never used twice with a secret */
    uint64_t shared_random;    /* the same on all ranks: choices that must agree */
    uint64_t own_random;       /* keys that nobody else knows */
} pkb_judge;

/* Connects to the evaluator and to the other judges. */
pkb_code pkb_judge_open(pkb_judge *judge, pkb_error *err);
void pkb_judge_close(pkb_judge *judge); /* ends all that it started */
/* Obeys the evaluator until it says close. */
pkb_code pkb_judge_serve(pkb_judge *judge, pkb_error *err);

/* Makes `size` the open one with draws and expectations that no attempt has seen. */
pkb_code pkb_judge_prepare(pkb_judge *judge, const pkb_plan_size *size, pkb_error *err);

/* Closes it, here and in the runner: its memory is free again. */
pkb_code pkb_judge_drop_size(pkb_judge *judge, pkb_error *err);

#endif
