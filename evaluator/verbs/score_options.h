/* SPDX-License-Identifier: Apache-2.0
 *
 * Options that every verb on records has: which attempts are meant, and what may be mixed.
 */
#ifndef PKB_EVALUATOR_SCORE_OPTIONS_H
#define PKB_EVALUATOR_SCORE_OPTIONS_H

#include <argp.h>
#include <stdint.h>

#include "evaluator/score/runset.h"

typedef struct pkb_score_options {
    pkb_runset_options runset;
    uint64_t seed;
    const char **paths; /* owned; the strings are the command line's */
    size_t path_count;
    bool wants_json;
} pkb_score_options;

enum { PKB_SCORE_KEY_FIRST = 0x200, PKB_SCORE_KEY_OWN = 0x300 /* a verb's own start here */ };

/* Rows for a verb's table of options; the selection alone for one that prints no JSON. */
#define PKB_SCORE_OPTION(name, number, value, text)               \
    {                                                             \
        name, PKB_SCORE_KEY_FIRST + (number), (value), 0, text, 0 \
    }
#define PKB_SCORE_OPTION_ROWS \
    PKB_SCORE_OPTION("json", 0, NULL, "print JSON, a line each"), PKB_SCORE_SELECTION_ROWS
#define PKB_SCORE_SELECTION_ROWS                                                          \
    PKB_SCORE_OPTION("run", 1, "NAME", "only records of this run"),                       \
        PKB_SCORE_OPTION("device", 2, "cuda|cpu", "only records of this device"),         \
        PKB_SCORE_OPTION("world", 3, "P", "only records with so many ranks"),             \
        PKB_SCORE_OPTION("problems", 4, "LIST",                                           \
                         "these problems are meant, with or without records: numbers, "   \
                         "ranges, names, categories"),                                    \
        PKB_SCORE_OPTION("samples", 5, "N", "so many attempts a problem are meant"),      \
        PKB_SCORE_OPTION("mix", 6, NULL,                                                  \
                         "count attempts under different conditions together, marked"),   \
        PKB_SCORE_OPTION("pool", 7, NULL, "count attempts of several runs as one run's"), \
        PKB_SCORE_OPTION("seed", 8, "N", "of the intervals (default 1)")

void pkb_score_options_init(pkb_score_options *options);
/* Takes the rows above and the arguments; ARGP_ERR_UNKNOWN for others. */
error_t pkb_score_options_parse(pkb_score_options *options, int key, char *value,
                                struct argp_state *state);
void pkb_score_options_clear(pkb_score_options *options);

#endif
