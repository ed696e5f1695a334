/* SPDX-License-Identifier: Apache-2.0
 *
 * The judge's connection to the evaluator (docs/protocol.md, section 2).
 */
#ifndef PKB_HARNESS_CONTROL_H
#define PKB_HARNESS_CONTROL_H

#include <stdint.h>

#include "base/error.h"
#include "base/json.h"
#include "harness/judge/watch.h"
#include "harness/sandbox/message.h"

typedef struct pkb_control {
    int fd; /* -1 = none */
    uint32_t rank;
    pkb_message *message;
} pkb_control;

/* Connects to <work>/control.sock and says hello. */
pkb_code pkb_control_open(pkb_control *control, const char *work, uint32_t rank, pkb_error *err);
void pkb_control_close(pkb_control *control);

/* The next request; the caller deletes it. Fails when the watch does. */
pkb_code pkb_control_receive(pkb_control *control, const pkb_watch *watch, cJSON **out,
                             pkb_error *err);
/* Sends an event (freed here) with this rank's number in it. */
pkb_code pkb_control_send(pkb_control *control, cJSON *event, pkb_error *err);
cJSON *pkb_control_event(const char *name);
pkb_code pkb_control_progress(pkb_control *control, const char *size, const char *step,
                              pkb_error *err);
/* Tells our own failure; best effort. */
void pkb_control_complain(pkb_control *control, const pkb_error *failure);

#endif
