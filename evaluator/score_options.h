/* SPDX-License-Identifier: Apache-2.0
 *
 * Options that every verb on records has: which attempts are meant, and what may be mixed.
 */
#ifndef PKB_EVALUATOR_SCORE_OPTIONS_H
#define PKB_EVALUATOR_SCORE_OPTIONS_H

#include <argp.h>
#include <stdint.h>

#include "evaluator/runset.h"

typedef struct pkb_score_options {
    pkb_runset_options runset;
    uint64_t seed;
    const char **paths; /* owned; the strings are the command line's */
    size_t path_count;
    bool wants_json;
} pkb_score_options;

enum { PKB_SCORE_KEY_FIRST = 0x200, PKB_SCORE_KEY_OWN = 0x300 /* a verb's own start here */ };

/* Rows for a verb's table of options. */
#define PKB_SCORE_OPTION_ROWS                                                                     \
    {"json", PKB_SCORE_KEY_FIRST, 0, 0, "print JSON, a line each", 0},                            \
        {"run", PKB_SCORE_KEY_FIRST + 1, "NAME", 0, "only records of this run", 0},               \
        {"device", PKB_SCORE_KEY_FIRST + 2, "cuda|cpu", 0, "only records of this device", 0},     \
        {"world", PKB_SCORE_KEY_FIRST + 3, "P", 0, "only records with so many ranks", 0},         \
        {"problems",                                                                              \
         PKB_SCORE_KEY_FIRST + 4,                                                                 \
         "LIST",                                                                                  \
         0,                                                                                       \
         "these problems are meant, with or without records: numbers, ranges, names, categories", \
         0},                                                                                      \
        {"samples", PKB_SCORE_KEY_FIRST + 5, "N", 0, "so many attempts a problem are meant", 0},  \
        {"mix",                                                                                   \
         PKB_SCORE_KEY_FIRST + 6,                                                                 \
         0,                                                                                       \
         0,                                                                                       \
         "count attempts under different conditions together, and mark it",                       \
         0},                                                                                      \
    {                                                                                             \
        "seed", PKB_SCORE_KEY_FIRST + 7, "N", 0, "of the intervals (default 1)", 0                \
    }

void pkb_score_options_init(pkb_score_options *options);
/* Takes the rows above and the arguments; ARGP_ERR_UNKNOWN for others. */
error_t pkb_score_options_parse(pkb_score_options *options, int key, char *value,
                                struct argp_state *state);
void pkb_score_options_clear(pkb_score_options *options);

#endif
