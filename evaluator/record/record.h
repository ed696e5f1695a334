/* SPDX-License-Identifier: Apache-2.0
 *
 * The record of one judged attempt: one line of JSON (docs/design.md, section 9). What was not
 * measured is absent.
 */
#ifndef PKB_EVALUATOR_RECORD_H
#define PKB_EVALUATOR_RECORD_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/verdict.h"
#include "evaluator/attempt/attempt.h"
#include "evaluator/attempt/options.h"
#include "evaluator/machine/gpus.h"
#include "evaluator/machine/tool.h"

enum { PKB_RECORD_SCHEMA = 1, PKB_PROTOCOL_VERSION = 2 };

/* A longer line is no record. */
enum { PKB_RECORD_LIMIT_BYTES = 16 << 20 };

/* Seconds, one part after another, and of all; below 0 = not done. The judges add theirs. */
typedef struct pkb_record_costs {
    double compile_s;
    double start_s;   /* until new ranks had opened the problem, without compiling */
    double prepare_s; /* the same of ranks that lived already, and waiting for their draws */
    double total_s;
} pkb_record_costs;

#define PKB_RECORD_NO_COSTS    \
    (pkb_record_costs)         \
    {                          \
        -1.0, -1.0, -1.0, -1.0 \
    }

typedef struct pkb_record_facts {
    const pkb_eval_options *options;
    const char *file; /* of the attempt */
    const char *run;  /* NULL = the file's stem */
    int64_t sample;
    const pkb_attempt *attempt;
    bool is_truncated;      /* it is blank, for its reply was cut */
    const char *problem;    /* "013_gemm_allreduce" */
    const char *definition; /* hash of what defines it; NULL = unknown */
    const char *sandbox;    /* level; NULL = nothing was run */
    const char *secret;     /* NULL = nothing was drawn */
    const cJSON *sizes;     /* names asked for; NULL = not resolved */
    const pkb_toolbox *tools;
    const pkb_eval_gpus *gpus; /* of none, or NULL: the CPU device */
    const cJSON *control;      /* judged in between, because ranks broke; NULL = none was */
    pkb_record_costs costs;
} pkb_record_facts;

/* A record with a verdict that was clear before anything ran, or with our own failure. */
pkb_code pkb_record_plain(cJSON **out, const pkb_record_facts *facts, pkb_verdict verdict,
                          const char *reason, pkb_error *err);
/* A record with what the judges found: the "verdict" event of rank 0. */
pkb_code pkb_record_judged(cJSON **out, const pkb_record_facts *facts, const cJSON *event,
                           pkb_error *err);

/* Another verdict for a record of ours, whose reason says why. */
pkb_code pkb_record_change(cJSON *record, pkb_verdict verdict, const char *reason, pkb_error *err);

/* Equal judgements need not be made twice: the hash of all that could change the verdict. */
pkb_code pkb_record_judgement(char hex[PKB_HASH_HEX_BYTES], const pkb_record_facts *facts,
                              pkb_error *err);

/* The record of another attempt that is equal but for its name: same judgement, nothing was spent.
 * `facts` need file, run, sample, problem and options; the caller frees. */
pkb_code pkb_record_copy(cJSON **out, const cJSON *record, const pkb_record_facts *facts,
                         pkb_error *err);

/* "run/problem/sample/device/P". */
void pkb_record_id(pkb_buf *out, const pkb_record_facts *facts);
/* Appends a name in characters that suit a path, and a leading dot as '_'. */
void pkb_record_plain_name(pkb_buf *out, const char *name, size_t bytes);

/* How many verdicts of the same attempt the record follows, each of which it replaces: 0 in the
 * first, where it is not said. No more than PKB_REVISION_MOST are told apart, which cJSON still
 * writes as they are: who says more cannot win against all that follows. False: out of memory. */
enum { PKB_REVISION_MOST = 1000000000 };
bool pkb_record_set_revision(cJSON *record, int64_t revision);
int64_t pkb_record_revision(const cJSON *record);

pkb_code pkb_record_verdict(const cJSON *record, pkb_verdict *out, pkb_error *err);
/* INFRA_ERROR, or no verdict at all: the attempt is still to be judged. */
bool pkb_record_is_pending(const cJSON *record);

/* Appends the record to a file and syncs it: PKB_ERR_DISK on failure. */
pkb_code pkb_record_append(const cJSON *record, const char *path, pkb_error *err);
/* Can the file be appended to? Asked before the work, not after it; makes none. */
pkb_code pkb_record_check_file(const char *path, pkb_error *err);

#endif
