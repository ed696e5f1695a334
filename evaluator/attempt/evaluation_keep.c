/* SPDX-License-Identifier: Apache-2.0
 *
 * What --keep leaves of an evaluation; see evaluation.h.
 */
#include <stdlib.h>

#include "base/fs.h"
#include "evaluator/attempt/debug.h"
#include "evaluator/attempt/evaluation.h"
#include "evaluator/attempt/keep.h"
#include "evaluator/attempt/printed.h"

/* What was built of it, and all that was said. */
static pkb_code keep_files(const pkb_evaluation *evaluation, const pkb_ranks *ranks,
                           const char *folder, pkb_error *err)
{
    char *log = pkb_workdir_path(&ranks->workdir, "ranks.log");
    char *debug = pkb_workdir_path(&ranks->workdir, PKB_DEBUG_NAME); /* where there was one */
    const bool has_debug = debug != NULL && pkb_fs_exists(debug);
    const char *const files[] = {log, evaluation->build.host, evaluation->build.device,
                                 has_debug ? debug : NULL};
    pkb_code rc = PKB_OK;

    for (size_t i = 0; i < sizeof files / sizeof files[0] && rc == PKB_OK; i++)
        if (files[i] != NULL)
            rc = pkb_keep_file(folder, files[i], err);
    free(log);
    free(debug);
    for (int rank = 0; rank < ranks->setting->options.world && rc == PKB_OK; rank++) {
        char name[PKB_PRINTED_NAME_BYTES];
        pkb_printed_name(name, rank);
        char *path = pkb_workdir_path(&ranks->workdir, name);
        if (path != NULL)
            rc = pkb_keep_file(folder, path, err);
        free(path);
    }
    return rc;
}

pkb_code pkb_evaluation_keep(const pkb_evaluation *evaluation, const pkb_ranks *ranks,
                             const char *folder, pkb_error *err)
{
    const pkb_attempt *attempt = &evaluation->attempt;
    const pkb_buf *header = &evaluation->header, *plan = &ranks->plan.text;
    const pkb_buf *log = &evaluation->build.log;
    const struct {
        const char *name, *text;
        size_t bytes;
    } texts[] = {
        {attempt->file_name, attempt->source, attempt->bytes},
        {"problem.h", pkb_buf_text(header), header->bytes},
        {"plan.json", pkb_buf_text(plan), plan->bytes},
        {"compile.log", pkb_buf_text(log), log->bytes},
    };
    pkb_code rc = PKB_OK;

    if (attempt->is_blank)
        return PKB_OK;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0] && rc == PKB_OK; i++)
        rc = pkb_keep_text(folder, texts[i].name, texts[i].text, texts[i].bytes, err);
    return rc == PKB_OK ? keep_files(evaluation, ranks, folder, err) : rc;
}
