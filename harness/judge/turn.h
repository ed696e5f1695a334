/* SPDX-License-Identifier: Apache-2.0
 *
 * Worlds on one node take turns at timing, and nothing is compiled meanwhile: the evaluator says
 * when (docs/protocol.md, section 2).
 */
#ifndef PKB_HARNESS_TURN_H
#define PKB_HARNESS_TURN_H

#include "harness/judge/judge.h"

/* Waits until this world may time; every rank calls it. */
pkb_code pkb_turn_take(pkb_judge *judge, pkb_error *err);
/* Says that it has timed. */
pkb_code pkb_turn_end(pkb_judge *judge, pkb_error *err);

#endif
