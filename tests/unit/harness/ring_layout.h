/* SPDX-License-Identifier: Apache-2.0
 *
 * The arguments of tests/e2e/attempts/ring.cu and its like, for worlds of cells without judges.
 */
#ifndef PKB_TESTS_RING_LAYOUT_H
#define PKB_TESTS_RING_LAYOUT_H

#include <string.h>

#include "harness/memory/layout.h"

enum { IN, OUT, MODE, OFFSETS, ELEMENTS = 1000, SLOTS = 4, RANKS = 2 };

static inline void describe(pkb_layout *layout)
{
    *layout = (pkb_layout){
        .world = RANKS, .argument_count = 4, .dim_count = 2, .slot_count = SLOTS, .entry_count = 1};
    const pkb_argument arguments[] = {
        {.name = "in", .role = PKB_ROLE_IN, .dtype = PKB_F32, .shape_count = 1},
        {.name = "out", .role = PKB_ROLE_OUT, .dtype = PKB_F32, .shape_count = 1},
        {.name = "mode", .role = PKB_ROLE_SCALAR, .dtype = PKB_I64},
        {.name = "offsets", .role = PKB_ROLE_HOST, .dtype = PKB_I64, .shape_count = 1}};
    memcpy(layout->arguments, arguments, sizeof arguments);
    for (uint32_t r = 0; r < RANKS; r++) {
        layout->dims[r][0] = ELEMENTS;
        for (uint32_t i = 0; i < layout->argument_count; i++) {
            layout->arguments[i].present[r] = true;
            layout->arguments[i].shape[r][0] = i == OFFSETS ? 2 : ELEMENTS;
        }
    }
}

#endif
