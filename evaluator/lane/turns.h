/* SPDX-License-Identifier: Apache-2.0
 *
 * Turns to time: of lanes that share cores one at a time, in the order in which they asked, while
 * the compilers of all others stand still.
 */
#ifndef PKB_EVALUATOR_TURNS_H
#define PKB_EVALUATOR_TURNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "evaluator/lane/lane.h"

typedef struct pkb_turns {
    uint64_t asked_count;
    bool all_rest; /* all lanes, also those to come, but the one that times or is about to */
    void (*before)(void *context); /* called before a lane times; may be NULL */
    void *context;
} pkb_turns;

/* It asks for a turn; and its turn is over. */
void pkb_turns_ask(pkb_turns *turns, pkb_lane *lane);
void pkb_turns_end(pkb_lane *lane);
/* Gives the turns that can be given now. */
void pkb_turns_give(pkb_turns *turns, pkb_lane *const *lanes, size_t count);
bool pkb_turns_are_had(pkb_lane *const *lanes, size_t count);

#endif
