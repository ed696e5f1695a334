/* SPDX-License-Identifier: Apache-2.0
 *
 * A sign of life between a process and one that it forks: a counter that both see. A process that
 * hangs or was stopped shows none, and counting wakes nobody up.
 */
#ifndef PKB_EVALUATOR_PULSE_H
#define PKB_EVALUATOR_PULSE_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/error.h"

typedef struct pkb_pulse {
    atomic_uint *beats; /* NULL = none */
    unsigned seen_beats;
    uint64_t looked_ns, silent_ns;
} pkb_pulse;

/* Before the fork. */
pkb_code pkb_pulse_open(pkb_pulse *out, pkb_error *err);
/* In the process that is watched. */
void pkb_pulse_beat(const pkb_pulse *pulse);
/* In the one that watches, to be called often: how long there was no beat since it was opened or
 * listened to anew. Time in which nobody looked counts little: the watcher was stopped itself. */
uint64_t pkb_pulse_silent_ns(pkb_pulse *pulse);
void pkb_pulse_listen(pkb_pulse *pulse);
void pkb_pulse_close(pkb_pulse *pulse);

#endif
