/* SPDX-License-Identifier: Apache-2.0
 *
 * The file samples/<problem>/<k>.json beside a sample: what its reply was, and how the code was
 * found in it (docs/completions.md).
 */
#ifndef PKB_EVALUATOR_SAMPLE_STATUS_H
#define PKB_EVALUATOR_SAMPLE_STATUS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "evaluator/completion/extract.h"

/* What is known of a reply; texts may be NULL, `reply` excepted. */
typedef struct pkb_reply {
    const char *problem; /* "013_gemm_allreduce" */
    int64_t sample;
    const char *reply, *finish_reason, *model, *prompt_sha256;
} pkb_reply;

/* Extracts the source of a reply. `source` gets what belongs into <k>.cu (nothing without code),
 * `status` what belongs into <k>.json; the same reply gives the same bytes. More code than an
 * attempt may have is NO_CODE. */
pkb_code pkb_sample_status_make(pkb_buf *source, pkb_buf *status, pkb_extract_status *found,
                                const pkb_reply *reply, pkb_error *err);

typedef struct pkb_sample_status {
    bool is_truncated; /* the verdict of a blank sample is TRUNCATED, else NO_CODE */
    char reason[256];  /* "" = the file says none, or is not there */
} pkb_sample_status;

/* Of the file beside the blank source `path` ("…/4.cu"). PKB_ERR_USAGE: it is there and cannot be
 * read as JSON. */
pkb_code pkb_sample_status_read(pkb_sample_status *out, const char *path, pkb_error *err);
/* The model that the file beside a source names, which the caller frees; NULL: none. */
pkb_code pkb_sample_status_model(char **out, const char *path, pkb_error *err);

#endif
