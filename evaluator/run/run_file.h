/* SPDX-License-Identifier: Apache-2.0
 *
 * Where the records of a run go.
 */
#ifndef PKB_EVALUATOR_RUN_FILE_H
#define PKB_EVALUATOR_RUN_FILE_H

#include "evaluator/attempt/setting.h"

/* `*out` (freed by the caller) is the file of -o, or
 * <folder>/results/<host>-<device>-P<world>.jsonl in a folder that is made; NULL where nothing is
 * stored: --no-save, or the project's own examples, which a first try must not change. PKB_ERR_DISK
 * names the remedy. */
pkb_code pkb_run_file(char **out, const pkb_setting *setting, const char *folder, pkb_error *err);

#endif
