/* SPDX-License-Identifier: Apache-2.0
 *
 * A part of a run that one of several calls judges, on whatever machine: "2/4".
 */
#ifndef PKB_EVALUATOR_SHARD_H
#define PKB_EVALUATOR_SHARD_H

#include <stddef.h>

#include "base/error.h"

typedef struct pkb_shard {
    int index, count; /* 1/1 = the whole run */
} pkb_shard;

/* NULL is the whole run. PKB_ERR_USAGE: no such text. */
pkb_code pkb_shard_parse(pkb_shard *out, const char *text, pkb_error *err);
/* Its attempts of `count` in the order of problem and sample: first ... end - 1. The parts are one
 * after another, so that problems stay together, and differ by one attempt at most. */
void pkb_shard_range(const pkb_shard *shard, size_t count, size_t *first, size_t *end);

#endif
