/* SPDX-License-Identifier: Apache-2.0
 *
 * What is to be judged again although it was judged before: "TIMEOUT,13/4", "all".
 */
#ifndef PKB_EVALUATOR_REJUDGE_H
#define PKB_EVALUATOR_REJUDGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "evaluator/problem/catalogue.h"

typedef struct pkb_rejudge_item {
    char *id;            /* "run/problem/sample/device/P"; NULL = problem and sample */
    const char *problem; /* borrowed from the catalogue */
    int64_t sample;
    char *word; /* as it was said */
} pkb_rejudge_item;

typedef struct pkb_rejudge {
    uint32_t verdicts; /* PKB_VERDICT_BIT each; all of them: everything */
    pkb_rejudge_item *items;
    size_t count;
} pkb_rejudge;

/* NULL is nothing. PKB_ERR_USAGE names the word that is none. The caller clears. */
pkb_code pkb_rejudge_parse(pkb_rejudge *out, const char *list, const pkb_catalogue *catalogue,
                           pkb_error *err);
void pkb_rejudge_clear(pkb_rejudge *rejudge);

/* Does the item name this attempt? */
bool pkb_rejudge_item_names(const pkb_rejudge_item *item, const char *id, const char *problem,
                            int64_t sample);
/* The verdicts that an attempt keeps: those that need not be judged again. */
uint32_t pkb_rejudge_kept(const pkb_rejudge *rejudge, const char *id, const char *problem,
                          int64_t sample);

#endif
