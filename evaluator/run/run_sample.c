/* SPDX-License-Identifier: Apache-2.0
 *
 * One sample of a run: found in the records, equal to another one, or given to a lane; see
 * run_state.h.
 */
#include <stdlib.h>

#include "evaluator/attempt/evaluation.h"
#include "evaluator/run/run_flight.h"

static pkb_record_facts facts_of(const pkb_run *run, const pkb_evaluation *evaluation)
{
    return (pkb_record_facts){.options = &run->setting->options,
                              .file = evaluation->file,
                              .run = evaluation->run,
                              .sample = evaluation->sample,
                              .problem = evaluation->problem->full_name};
}

/* The record that is there already: of this attempt, or of an equal one; NULL = none. */
static const pkb_results_entry *find_entry(const pkb_run *run, const pkb_evaluation *evaluation,
                                           const char *judgement, bool *is_own)
{
    const pkb_record_facts facts = facts_of(run, evaluation);
    const bool only_new = facts.options->rejudges;
    const pkb_results_entry *entry = NULL;
    pkb_buf id = {0};

    pkb_record_id(&id, &facts);
    entry = pkb_results_find(&run->results, pkb_buf_text(&id), judgement, only_new);
    *is_own = entry != NULL;
    if (entry == NULL && !evaluation->attempt.is_blank)
        entry = pkb_results_find(&run->results, NULL, judgement, only_new);
    pkb_buf_clear(&id);
    return entry;
}

bool pkb_run_has_record(const pkb_run *run, const pkb_evaluation *evaluation)
{
    char judgement[PKB_HASH_HEX_BYTES];
    bool is_own = false;
    return pkb_evaluation_judgement(evaluation, judgement, NULL) == PKB_OK &&
           find_entry(run, evaluation, judgement, &is_own) != NULL;
}

static pkb_code find_record(const pkb_run *run, const pkb_run_flight *flight, cJSON **out,
                            bool *is_own, pkb_error *err)
{
    const pkb_record_facts facts = facts_of(run, &flight->evaluation);
    const pkb_results_entry *entry =
        find_entry(run, &flight->evaluation, flight->judgement, is_own);
    cJSON *found = NULL;

    if (entry == NULL)
        return PKB_OK;
    pkb_code rc = pkb_results_read(&run->results, entry, &found, err);
    if (rc != PKB_OK || *is_own) {
        *out = found;
        return rc;
    }
    rc = pkb_record_copy(out, found, &facts, err);
    cJSON_Delete(found);
    return rc;
}

/* ---- one sample ---- */

static pkb_code take_record(pkb_run *run, const pkb_summary_place *place, const cJSON *found,
                            bool is_own, pkb_error *err)
{
    pkb_code rc = is_own ? PKB_OK : pkb_results_append(&run->results, found, err);

    if (rc == PKB_OK)
        rc = pkb_run_account(run, place, found, !is_own, err);
    run->found_count += is_own;
    run->copied_count += !is_own;
    return rc;
}

/* What holds no code is judged by looking at it. */
static pkb_code judge_blank(pkb_run *run, pkb_run_flight *flight, pkb_error *err)
{
    pkb_code rc = pkb_evaluation_judge(&flight->evaluation, NULL, err);
    if (rc == PKB_OK)
        rc = pkb_results_append(&run->results, flight->evaluation.record, err);
    if (rc == PKB_OK)
        rc = pkb_run_account(run, &flight->place, flight->evaluation.record, true, err);
    run->judged_count++;
    return rc;
}

/* `*is_away` once a lane has it, and the run with it. */
static pkb_code find_or_give(pkb_run *run, pkb_run_flight *flight, bool *is_away, pkb_error *err)
{
    cJSON *found = NULL;
    bool is_own = false;
    pkb_code rc = pkb_evaluation_judgement(&flight->evaluation, flight->judgement, err);

    if (rc == PKB_OK)
        rc = find_record(run, flight, &found, &is_own, err);
    if (rc == PKB_OK && found != NULL)
        rc = take_record(run, &flight->place, found, is_own, err);
    else if (rc == PKB_OK && flight->evaluation.attempt.is_blank)
        rc = judge_blank(run, flight, err);
    else if (rc == PKB_OK)
        rc = pkb_run_give(run, flight, is_away, err);
    cJSON_Delete(found);
    return rc;
}

static pkb_code read_sample(pkb_run *run, pkb_run_flight *flight, size_t index, bool *is_read,
                            pkb_error *err)
{
    const pkb_sample *sample = &run->samples.items[index];
    pkb_error failure = {0};

    flight->place = (pkb_summary_place){.index = index + 1,
                                        .count = run->samples.count,
                                        .problem = sample->problem,
                                        .sample = (long long)sample->number};
    flight->evaluation = (pkb_evaluation){
        .setting = run->setting, .file = sample->path, .run = run->name, .sample = sample->number};
    pkb_code rc = pkb_shelf_get(&run->shelf, sample->problem, &flight->evaluation.problem, err);
    if (rc != PKB_OK)
        return rc;
    rc = pkb_evaluation_read(&flight->evaluation, &failure);
    *is_read = rc == PKB_OK;
    if (rc == PKB_ERR_USAGE) {
        run->unread_count++;
        pkb_run_say(run, "not judged: ", failure.message);
        return PKB_OK;
    }
    if (rc != PKB_OK)
        *err = failure;
    return rc;
}

pkb_code pkb_run_sample(pkb_run *run, size_t index, pkb_error *err)
{
    pkb_run_flight *flight = calloc(1, sizeof *flight);
    bool is_read = false, is_away = false;

    if (flight == NULL)
        return pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for an attempt");
    pkb_code rc = read_sample(run, flight, index, &is_read, err);
    if (rc == PKB_OK && is_read)
        rc = find_or_give(run, flight, &is_away, err);
    if (!is_away)
        pkb_run_flight_free(flight);
    return rc;
}
