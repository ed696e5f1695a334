/* SPDX-License-Identifier: Apache-2.0
 *
 * One evaluation: an attempt at a problem, built and judged on ranks into a record.
 */
#ifndef PKB_EVALUATOR_EVALUATION_H
#define PKB_EVALUATOR_EVALUATION_H

#include <cjson/cJSON.h>
#include <stdint.h>

#include "base/buf.h"
#include "evaluator/attempt/attempt.h"
#include "evaluator/attempt/sample_status.h"
#include "evaluator/attempt/setting.h"
#include "evaluator/compile/compile.h"
#include "evaluator/problem/problem.h"
#include "evaluator/ranks/ranks.h"
#include "evaluator/record/record.h"

typedef struct pkb_evaluation {
    /* filled in by the caller, and borrowed */
    const pkb_setting *setting;
    const pkb_problem *problem;
    const char *file;
    const char *source; /* NULL = what the file holds */
    size_t source_bytes;
    const char *run; /* NULL = named after the file */
    int64_t sample;
    bool is_control;

    pkb_attempt attempt;
    pkb_sample_status status; /* of a blank attempt */
    pkb_build build;
    pkb_buf header; /* problem.h */
    pkb_record_costs costs;
    cJSON *event;      /* what the judges found; NULL = nothing */
    pkb_error failure; /* why it is our failure (INFRA_ERROR) */
    bool was_held;     /* the ranks had the attempt when they failed */
    bool ran_out;      /* of memory or the like */
    cJSON *control;    /* for the record; NULL = none was judged */
    cJSON *record;     /* the result */
    pkb_buf printed;   /* the end of what the attempt printed; empty if it is CORRECT */
    int printed_rank;  /* by which rank */
} pkb_evaluation;

/* Reads the file, or copies the source: PKB_ERR_USAGE names it and the remedy. */
pkb_code pkb_evaluation_read(pkb_evaluation *evaluation, pkb_error *err);
/* What its record will say beside what the judges find, and its id; borrowed from it. */
pkb_record_facts pkb_evaluation_facts(const pkb_evaluation *evaluation);
/* The hash that its record will have, judged with timing or without. */
pkb_code pkb_evaluation_judgement(const pkb_evaluation *evaluation, bool is_timed,
                                  char hex[PKB_HASH_HEX_BYTES], pkb_error *err);
/* Has what was read in the cache, so that building it later takes no time; works in an empty
 * directory, and nothing but time depends on it. */
pkb_code pkb_evaluation_compile_ahead(pkb_evaluation *evaluation, const char *directory,
                                      pkb_error *err);
/* Builds and judges what was read. A failure of the ranks is a record, too, with the verdict
 * INFRA_ERROR; such ranks must be ended. */
pkb_code pkb_evaluation_judge(pkb_evaluation *evaluation, pkb_ranks *ranks, pkb_error *err);
/* The same for one of many: failures before the ranks were there make such a record, too. What is
 * left as an error is none of this attempt: it ends the run, or says that the problem does not fit
 * the options (PKB_ERR_USAGE). */
pkb_code pkb_evaluation_try(pkb_evaluation *evaluation, pkb_ranks *ranks, pkb_error *err);
/* Makes the record of a failure of ours: INFRA_ERROR. */
pkb_code pkb_evaluation_fail(pkb_evaluation *evaluation, const pkb_error *failure, pkb_error *err);
/* Copies all that there is to see into a folder, before the ranks judge the next attempt or end. */
pkb_code pkb_evaluation_keep(const pkb_evaluation *evaluation, const pkb_ranks *ranks,
                             const char *folder, pkb_error *err);
void pkb_evaluation_clear(pkb_evaluation *evaluation);

#endif
