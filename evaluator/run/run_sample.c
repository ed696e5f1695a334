/* SPDX-License-Identifier: Apache-2.0
 *
 * One sample of a run: judged, found in the records, or equal to another one; see run_state.h.
 */
#include <stdio.h>
#include <string.h>

#include "evaluator/attempt/evaluation.h"
#include "evaluator/attempt/retry.h"
#include "evaluator/console/output.h"
#include "evaluator/run/run_state.h"

static pkb_code account(pkb_run *run, const pkb_summary_place *place, const cJSON *record,
                        bool is_told, pkb_error *err)
{
    pkb_progress_end(&run->setting->progress);
    if (is_told)
        pkb_summary_line(stderr, place, record);
    if (!pkb_summary_add(&run->summary, place->problem, record))
        return pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for the summary");
    const bool failed = pkb_record_is_pending(record);
    run->pending_count += failed;
    run->failures_in_a_row = failed ? run->failures_in_a_row + 1 : 0;
    return run->setting->options.wants_json ? pkb_output_json(record, err) : PKB_OK;
}

static pkb_record_facts facts_of(const pkb_run *run, const pkb_evaluation *evaluation)
{
    return (pkb_record_facts){.options = &run->setting->options,
                              .file = evaluation->file,
                              .run = evaluation->run,
                              .sample = evaluation->sample,
                              .problem = evaluation->problem->full_name};
}

/* The record that is there already: of this attempt, or of an equal one; NULL = none. */
static pkb_code find_entry(pkb_run *run, const pkb_evaluation *evaluation,
                           const pkb_results_entry **out, bool *is_own, pkb_error *err)
{
    const pkb_record_facts facts = facts_of(run, evaluation);
    const bool only_new = facts.options->rejudges;
    char judgement[PKB_HASH_HEX_BYTES];
    const pkb_results_entry *entry = NULL;
    pkb_buf id = {0};

    pkb_record_id(&id, &facts);
    pkb_code rc = pkb_evaluation_judgement(evaluation, judgement, err);
    if (rc == PKB_OK)
        entry = pkb_results_find(&run->results, pkb_buf_text(&id), judgement, only_new);
    *is_own = entry != NULL;
    if (rc == PKB_OK && entry == NULL && !evaluation->attempt.is_blank)
        entry = pkb_results_find(&run->results, NULL, judgement, only_new);
    pkb_buf_clear(&id);
    *out = entry;
    return rc;
}

bool pkb_run_has_record(pkb_run *run, const pkb_evaluation *evaluation)
{
    const pkb_results_entry *entry = NULL;
    bool is_own = false;
    return find_entry(run, evaluation, &entry, &is_own, NULL) == PKB_OK && entry != NULL;
}

static pkb_code find_record(pkb_run *run, const pkb_evaluation *evaluation, cJSON **out,
                            bool *is_own, pkb_error *err)
{
    const pkb_record_facts facts = facts_of(run, evaluation);
    const pkb_results_entry *entry = NULL;
    cJSON *found = NULL;

    pkb_code rc = find_entry(run, evaluation, &entry, is_own, err);
    if (rc != PKB_OK || entry == NULL)
        return rc;
    rc = pkb_results_read(&run->results, entry, &found, err);
    if (rc != PKB_OK || *is_own) {
        *out = found;
        return rc;
    }
    rc = pkb_record_copy(out, found, &facts, err);
    cJSON_Delete(found);
    return rc;
}

static pkb_code judge_or_find(pkb_run *run, pkb_evaluation *evaluation,
                              const pkb_summary_place *place, pkb_error *err)
{
    cJSON *found = NULL;
    bool is_own = false;
    pkb_code rc = find_record(run, evaluation, &found, &is_own, err);

    if (rc == PKB_OK && found == NULL)
        rc = pkb_retry_judge(evaluation, &run->ranks, err);
    if (rc != PKB_OK)
        goto cleanup;
    const cJSON *record = found != NULL ? found : evaluation->record;
    if (!is_own)
        rc = pkb_results_append(&run->results, record, err);
    if (rc == PKB_OK)
        rc = account(run, place, record, !is_own, err);
    run->found_count += is_own;
    run->copied_count += !is_own && found != NULL;
    run->judged_count += found == NULL;
cleanup:
    cJSON_Delete(found);
    return rc;
}

pkb_code pkb_run_open_problem(const pkb_run *run, pkb_problem **problem, const char *name,
                              pkb_error *err)
{
    if (*problem != NULL && strcmp((*problem)->full_name, name) == 0)
        return PKB_OK;
    pkb_problem_free(*problem);
    *problem = NULL;
    pkb_code rc = pkb_problem_load(problem, &run->setting->catalogue, name, err);
    return rc == PKB_OK ? pkb_problem_hash(*problem, err) : rc;
}

/* The resolver said no to this problem: not an error of the run. */
static bool is_refused(pkb_run *run, const char *problem, pkb_code rc, const pkb_error *failure)
{
    if (rc != PKB_ERR_USAGE || strcmp(run->ranks.problem, problem) == 0)
        return false;
    run->refused = problem;
    run->refusal = *failure;
    return true;
}

pkb_code pkb_run_sample(pkb_run *run, const pkb_summary_place *place, const char *path,
                        pkb_error *err)
{
    pkb_evaluation evaluation = {
        .setting = run->setting, .file = path, .run = run->name, .sample = place->sample};
    pkb_error failure = {0};
    char subject[160];

    pkb_summary_subject(subject, sizeof subject, place);
    pkb_progress_subject(&run->setting->progress, subject);
    pkb_code rc = pkb_run_open_problem(run, &run->problem, place->problem, err);
    if (rc != PKB_OK)
        return rc;
    evaluation.problem = run->problem;
    rc = pkb_evaluation_read(&evaluation, &failure);
    if (rc == PKB_ERR_USAGE) {
        run->unread_count++;
        pkb_run_say(run, "not judged: ", failure.message);
        return PKB_OK;
    }
    if (rc == PKB_OK)
        rc = judge_or_find(run, &evaluation, place, &failure);
    pkb_evaluation_clear(&evaluation);
    if (is_refused(run, place->problem, rc, &failure)) {
        run->refused_count++;
        pkb_run_say(run, "not judged: ", failure.message);
        return PKB_OK;
    }
    if (rc != PKB_OK)
        *err = failure;
    return rc;
}
