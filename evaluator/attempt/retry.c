/* SPDX-License-Identifier: Apache-2.0
 *
 * Judging an attempt until it has a verdict; see retry.h.
 */
#include "evaluator/attempt/retry.h"

#include "base/buf.h"
#include "base/fs.h"

enum { TRIES = 2 };

static pkb_code keep(const pkb_evaluation *evaluation, const pkb_ranks *ranks, pkb_error *err)
{
    const char *all = evaluation->setting->options.keep;
    pkb_buf folder = {0};

    if (all == NULL || ranks->session == NULL)
        return PKB_OK;
    pkb_buf_printf(&folder, "%s/%s/%lld", all, evaluation->problem->full_name,
                   (long long)evaluation->sample);
    pkb_code rc = pkb_buf_check(&folder, "the folder for --keep", err);
    if (rc == PKB_OK)
        rc = pkb_fs_make_directory(pkb_buf_text(&folder), 0755, err);
    if (rc == PKB_OK)
        rc = pkb_evaluation_keep(evaluation, ranks, pkb_buf_text(&folder), err);
    pkb_buf_clear(&folder);
    return rc;
}

static pkb_code judge_again(pkb_evaluation *evaluation, pkb_error *err)
{
    const pkb_evaluation fresh = {.setting = evaluation->setting,
                                  .problem = evaluation->problem,
                                  .file = evaluation->file,
                                  .run = evaluation->run,
                                  .sample = evaluation->sample};
    pkb_evaluation_clear(evaluation);
    *evaluation = fresh;
    return pkb_evaluation_read(evaluation, err);
}

/* Failures that are not this attempt's or these ranks': another try would end in the same way. */
static bool ends_the_run(pkb_code rc)
{
    return rc == PKB_ERR_INTERRUPTED || rc == PKB_ERR_MEMORY || rc == PKB_ERR_DISK ||
           rc == PKB_ERR_USAGE || rc == PKB_ERR_MISSING;
}

pkb_code pkb_retry_judge(pkb_evaluation *evaluation, pkb_ranks *ranks, pkb_error *err)
{
    pkb_code rc = PKB_OK;

    for (int try = 1; rc == PKB_OK; try++) {
        pkb_error failure = {0};
        rc = pkb_evaluation_judge(evaluation, ranks, &failure);
        if (rc != PKB_OK && ends_the_run(rc)) {
            *err = failure;
            return rc;
        }
        if (rc != PKB_OK)
            rc = pkb_evaluation_fail(evaluation, &failure, err);
        if (rc == PKB_OK)
            rc = keep(evaluation, ranks, err);
        if (rc != PKB_OK || !pkb_record_is_pending(evaluation->record))
            return rc;
        pkb_ranks_end(ranks);
        if (try == TRIES)
            return PKB_OK;
        rc = judge_again(evaluation, err);
    }
    return rc;
}
