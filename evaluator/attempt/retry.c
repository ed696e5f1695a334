/* SPDX-License-Identifier: Apache-2.0
 *
 * Judging an attempt until it has a verdict; see retry.h.
 */
#include "evaluator/attempt/retry.h"

#include "base/buf.h"
#include "base/fs.h"
#include "base/json.h"
#include "evaluator/attempt/example.h"
#include "evaluator/attempt/logs.h"

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

static pkb_code read_again(pkb_evaluation *evaluation, cJSON *control, pkb_error *err)
{
    const pkb_evaluation fresh = {.setting = evaluation->setting,
                                  .problem = evaluation->problem,
                                  .file = evaluation->file,
                                  .source = evaluation->source,
                                  .source_bytes = evaluation->source_bytes,
                                  .run = evaluation->run,
                                  .sample = evaluation->sample,
                                  .control = control};
    pkb_evaluation_clear(evaluation);
    *evaluation = fresh;
    return pkb_evaluation_read(evaluation, err);
}

/* A cell died of SIGKILL that its judge did not send: so the kernel ends what takes a machine's
 * memory, a person what is in the way, or the attempt itself. Whatever else was found, what that
 * cell would have shown is missing. */
static bool was_killed(const pkb_evaluation *evaluation)
{
    return cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(evaluation->event, "killed"));
}

/* The ranks failed with the attempt twice. */
static pkb_code settle(pkb_evaluation *evaluation, pkb_error *err)
{
    const cJSON *control = evaluation->control;
    const char *failure = pkb_json_string_or(evaluation->record, "reason", "no reason is known");
    const char *source = pkb_json_string_or(control, "source", "");
    pkb_verdict verdict = PKB_VERDICT_INFRA_ERROR;
    pkb_buf reason = {0};

    if (control == NULL) {
        pkb_buf_printf(&reason, "%s; and %s has no example that could be judged as a control",
                       failure, evaluation->problem->full_name);
    } else if (!pkb_example_has_passed(control)) {
        pkb_buf_printf(&reason, "%s; and the control %s fails, too: %s", failure, source,
                       pkb_json_string_or(control, "verdict", ""));
    } else {
        verdict = evaluation->ran_out ? PKB_VERDICT_RESOURCE_LIMIT : PKB_VERDICT_CRASH;
        pkb_buf_printf(&reason,
                       "it broke the ranks twice%s, while the control %s passed in between: %s",
                       evaluation->ran_out ? ", which ran out of something" : "", source, failure);
    }
    pkb_code rc = pkb_buf_check(&reason, "a reason", err);
    if (rc == PKB_OK)
        rc = pkb_record_change(evaluation->record, verdict, pkb_buf_text(&reason), err);
    pkb_buf_clear(&reason);
    return rc;
}

/* Makes the next try of an attempt that has failed; where its ranks live on, without a control. */
static pkb_code prepare(pkb_evaluation *evaluation, pkb_ranks *ranks, pkb_error *err)
{
    cJSON *control = evaluation->control;
    pkb_code rc = PKB_OK;

    evaluation->control = NULL;
    if (evaluation->was_held && pkb_record_is_pending(evaluation->record))
        rc = pkb_example_judge(&control, evaluation, ranks, err);
    if (rc == PKB_OK)
        return read_again(evaluation, control, err);
    return rc;
}

pkb_code pkb_retry_judge(pkb_evaluation *evaluation, pkb_ranks *ranks, pkb_error *err)
{
    int failures = 0, held = 0; /* of the ranks, without the attempt and with it */
    int killed = 0;             /* of the attempt */

    for (;;) {
        pkb_code rc = pkb_evaluation_try(evaluation, ranks, err);
        if (rc == PKB_OK)
            rc = keep(evaluation, ranks, err);
        if (rc == PKB_OK)
            rc = pkb_logs_write(evaluation, ranks, err);
        if (rc != PKB_OK)
            return rc;
        if (!pkb_record_is_pending(evaluation->record)) {
            if (!was_killed(evaluation) || ++killed == TRIES)
                return PKB_OK;
        } else {
            pkb_ranks_end(ranks);
            if (evaluation->was_held && ++held == TRIES)
                return settle(evaluation, err);
            if (!evaluation->was_held && ++failures == TRIES)
                return PKB_OK;
        }
        rc = prepare(evaluation, ranks, err);
        if (rc != PKB_OK)
            return rc;
    }
}
