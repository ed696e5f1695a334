/* SPDX-License-Identifier: Apache-2.0
 *
 * Where the records of a run go, and where others wrote records of it.
 */
#ifndef PKB_EVALUATOR_RUN_FILES_H
#define PKB_EVALUATOR_RUN_FILES_H

#include <stdbool.h>
#include <stddef.h>

#include "evaluator/attempt/setting.h"

typedef struct pkb_run_files {
    char *own; /* to write; NULL = nothing is stored */
    char **others;
    size_t other_count;
    bool has_other_kinds; /* records for another device or number of ranks lie there, too */
} pkb_run_files;

/* `own` is the file of -o, alone, or <folder>/results/<host>-<device>-P<world>[-<i>of<n>].jsonl in
 * a folder that is made; NULL with --no-save, and for the project's own examples, which a first try
 * must not change. Beside the default file those of other hosts and shards, for the same device and
 * number of ranks, are found. With --dry-run nothing is made and all that is there is among the
 * others. PKB_ERR_DISK names the remedy. The caller clears. */
pkb_code pkb_run_files_find(pkb_run_files *out, const pkb_setting *setting, const char *folder,
                            pkb_error *err);
void pkb_run_files_clear(pkb_run_files *files);

#endif
