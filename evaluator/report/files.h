/* SPDX-License-Identifier: Apache-2.0
 *
 * The files of an attempt that lie in its run's folder: source and logs.
 */
#ifndef PKB_EVALUATOR_REPORT_FILES_H
#define PKB_EVALUATOR_REPORT_FILES_H

#include "evaluator/report/attempts.h"

/* Appends ",code,folder,name" and ",log" for each log to a row, all of them numbers + 1, 0 = none:
 * code that of the source's text; folder and name those of paths that together link to the source
 * (no name: "<sample>.cu"); logs those of paths. */
pkb_code pkb_attempt_files(pkb_buf *row, pkb_attempts *attempts, const pkb_outcome *outcome,
                           pkb_error *err);

#endif
