/* SPDX-License-Identifier: Apache-2.0
 *
 * The two files that a completion becomes in the folder of a run: samples/<problem>/<k>.cu and
 * <k>.json.
 */
#ifndef PKB_EVALUATOR_IMPORT_FILES_H
#define PKB_EVALUATOR_IMPORT_FILES_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/error.h"
#include "evaluator/attempt/sample_status.h"

typedef struct pkb_import_files {
    pkb_buf folder, source_path, status_path; /* …/samples/013_x, …/4.cu, …/4.json */
    pkb_buf source, status;
    pkb_extract_status found;
} pkb_import_files;

/* What a reply becomes in the run's folder; nothing is written. The caller clears. */
pkb_code pkb_import_files_make(pkb_import_files *out, const char *run, const pkb_reply *reply,
                               pkb_error *err);
void pkb_import_files_clear(pkb_import_files *files);

/* Are both there, with the same bytes? */
pkb_code pkb_import_files_compare(bool *is_same, const pkb_import_files *files, pkb_error *err);
/* Each appears whole, the source last: what has no source is no sample yet, and a source with code
 * is judged whatever stands beside it. PKB_ERR_DISK on failure. */
pkb_code pkb_import_files_write(const pkb_import_files *files, pkb_error *err);

#endif
