/* SPDX-License-Identifier: Apache-2.0
 *
 * The record of one judged attempt: one line of JSON (docs/design.md, section 9). What was not
 * measured is absent.
 */
#ifndef PKB_EVALUATOR_RECORD_H
#define PKB_EVALUATOR_RECORD_H

#include <cjson/cJSON.h>

#include "base/error.h"
#include "base/verdict.h"
#include "evaluator/attempt.h"
#include "evaluator/gpus.h"
#include "evaluator/options.h"
#include "evaluator/tool.h"

enum { PKB_RECORD_SCHEMA = 1, PKB_PROTOCOL_VERSION = 1 };

typedef struct pkb_record_facts {
    const pkb_eval_options *options;
    const pkb_attempt *attempt;
    const char *problem; /* "013_gemm_allreduce" */
    const char *sandbox; /* level; NULL = nothing was run */
    const char *secret;  /* NULL = nothing was drawn */
    const cJSON *sizes;  /* names asked for; NULL = not resolved */
    const pkb_toolbox *tools;
    const pkb_eval_gpus *gpus; /* of none, or NULL: the CPU device */
    double compile_s, start_s; /* below 0 = not done */
} pkb_record_facts;

/* A record with a verdict that was clear before anything ran, or with our own failure. */
pkb_code pkb_record_plain(cJSON **out, const pkb_record_facts *facts, pkb_verdict verdict,
                          const char *reason, pkb_error *err);
/* A record with what the judges found: the "verdict" event of rank 0. */
pkb_code pkb_record_judged(cJSON **out, const pkb_record_facts *facts, const cJSON *event,
                           pkb_error *err);

pkb_code pkb_record_verdict(const cJSON *record, pkb_verdict *out, pkb_error *err);

/* Appends the record to a file and syncs it: PKB_ERR_DISK on failure. */
pkb_code pkb_record_append(const cJSON *record, const char *path, pkb_error *err);
/* Can the file be appended to? Asked before the work, not after it. */
pkb_code pkb_record_check_file(const char *path, pkb_error *err);

#endif
