/* SPDX-License-Identifier: Apache-2.0
 *
 * The steps that read a runset, shared by their files: files and lines (runset_files.c), one record
 * an attempt and no mixtures (runset.c), what was planned (runset_plan.c), what else there is
 * (runset_kinds.c).
 */
#ifndef PKB_EVALUATOR_RUNSET_STATE_H
#define PKB_EVALUATOR_RUNSET_STATE_H

#include "base/buf.h"
#include "evaluator/score/runset.h"

/* Adds a sentence, cleaned for a terminal. */
pkb_code pkb_runset_note(pkb_runset *runset, pkb_error *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Fills the list of problems with those that a selection names. */
pkb_code pkb_runset_select(pkb_runset *runset, const char *list, const pkb_catalogue *catalogue,
                           pkb_error *err);

/* Finds the files of a path and reads the records asked for, as they come. */
pkb_code pkb_runset_read_path(pkb_runset *runset, const char *path,
                              const pkb_runset_options *options, pkb_error *err);

/* Counts a record that the options did not ask for. */
pkb_code pkb_runset_count_other(pkb_runset *runset, const pkb_outcome *outcome, pkb_error *err);
/* Appends what there is of them, and the options that ask for it. */
void pkb_runset_list_others(pkb_buf *out, const pkb_runset *runset);

/* Completes the list of problems from sorted outcomes, the folders' sources and the plan. */
pkb_code pkb_runset_plan(pkb_runset *runset, const pkb_runset_options *options,
                         const pkb_catalogue *catalogue, pkb_error *err);

#endif
