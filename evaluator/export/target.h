/* SPDX-License-Identifier: Apache-2.0
 *
 * Where an export goes: standard output, a file that appears whole or not at all, or through Python
 * into a Parquet file.
 */
#ifndef PKB_EVALUATOR_TARGET_H
#define PKB_EVALUATOR_TARGET_H

#include <stdio.h>

#include "base/error.h"
#include "base/fs.h"
#include "evaluator/export/column.h"
#include "evaluator/machine/process.h"
#include "evaluator/machine/tool.h"
#include "evaluator/score/runset.h"

typedef struct pkb_target {
    const char *path; /* the caller's; "-" = standard output */
    FILE *out;        /* to be written to */
    pkb_fs_stage stage;
    pkb_process writer; /* of Parquet */
    const char *python; /* the caller's */
} pkb_target;

#define PKB_TARGET_NONE                                        \
    {                                                          \
        .stage = PKB_FS_STAGE_NONE, .writer = PKB_PROCESS_NONE \
    }

/* PKB_ERR_USAGE: the path is there and is no ordinary file. */
pkb_code pkb_target_open(pkb_target *out, const char *path, pkb_error *err);
/* `out` takes rows of CSV, unguarded, under the head of these columns. */
pkb_code pkb_target_open_parquet(pkb_target *out, const char *path, pkb_rows rows,
                                 const pkb_toolbox *tools, pkb_error *err);
/* PKB_ERR_USAGE: it would replace one of the files that are read. */
pkb_code pkb_target_check(const pkb_target *target, const pkb_runset *runset, pkb_error *err);
/* After writing ended with `rc`: makes the file appear, or says what really went wrong. */
pkb_code pkb_target_finish(pkb_target *target, pkb_code rc, pkb_error *err);
void pkb_target_clear(pkb_target *target);

#endif
