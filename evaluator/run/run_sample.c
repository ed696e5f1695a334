/* SPDX-License-Identifier: Apache-2.0
 *
 * One sample of a run: found in the records, equal to another one, or given to a lane; see
 * run_state.h.
 */
#include <stdlib.h>
#include <string.h>

#include "evaluator/attempt/evaluation.h"
#include "evaluator/run/known.h"
#include "evaluator/run/run_flight.h"

pkb_code pkb_run_evaluation(pkb_run *run, size_t index, pkb_evaluation *out, pkb_error *err)
{
    const pkb_sample *sample = &run->samples.items[index];
    const pkb_problem *problem = NULL;

    pkb_code rc = pkb_shelf_get(&run->shelf, sample->problem, &problem, err);
    if (rc == PKB_OK)
        *out = (pkb_evaluation){.setting = run->setting,
                                .problem = problem,
                                .file = sample->path,
                                .run = run->name,
                                .sample = sample->number};
    return rc;
}

bool pkb_run_has_record(const pkb_run *run, const pkb_evaluation *evaluation)
{
    pkb_known known;
    return pkb_known_find(&known, &run->results, &run->rejudge, evaluation, NULL) == PKB_OK &&
           known.kind != PKB_KNOWN_NOT;
}

/* What counts already needs no record; of what is known otherwise the run stores a copy. */
static pkb_code take_record(pkb_run *run, const pkb_run_flight *flight, const pkb_known *known,
                            pkb_error *err)
{
    const bool is_own = known->kind == PKB_KNOWN_OWN;
    cJSON *found = NULL;
    pkb_code rc = pkb_known_record(&found, known, &run->results, &flight->evaluation, err);

    if (rc == PKB_OK && !is_own)
        rc = pkb_run_store(run, found, known->revision, err);
    run->found_count += is_own || known->kind == PKB_KNOWN_OLDER;
    run->copied_count += known->kind == PKB_KNOWN_EQUAL;
    if (rc == PKB_OK)
        rc = pkb_run_account(run, &flight->place, found, !is_own, err);
    cJSON_Delete(found);
    return rc;
}

/* What holds no code is judged by looking at it. */
static pkb_code judge_blank(pkb_run *run, pkb_run_flight *flight, pkb_error *err)
{
    pkb_code rc = pkb_evaluation_judge(&flight->evaluation, NULL, err);
    if (rc == PKB_OK)
        rc = pkb_run_store(run, flight->evaluation.record, flight->revision, err);
    run->judged_count++;
    if (rc == PKB_OK)
        rc = pkb_run_account(run, &flight->place, flight->evaluation.record, true, err);
    return rc;
}

/* `*is_away` once a lane has it, and the run with it. */
static pkb_code find_or_give(pkb_run *run, pkb_run_flight *flight, bool *is_away, pkb_error *err)
{
    pkb_known known;
    pkb_code rc = pkb_known_find(&known, &run->results, &run->rejudge, &flight->evaluation, err);

    if (rc != PKB_OK)
        return rc;
    memcpy(flight->judgement, known.judgement, sizeof flight->judgement);
    flight->revision = known.revision;
    if (known.kind != PKB_KNOWN_NOT)
        return take_record(run, flight, &known, err);
    if (flight->evaluation.attempt.is_blank)
        return judge_blank(run, flight, err);
    return pkb_run_give(run, flight, is_away, err);
}

static pkb_code read_sample(pkb_run *run, pkb_run_flight *flight, size_t index, bool *is_read,
                            pkb_error *err)
{
    const pkb_sample *sample = &run->samples.items[index];
    pkb_error failure = {0};

    flight->place = (pkb_summary_place){.index = index + 1,
                                        .count = run->samples.count,
                                        .problem = sample->problem,
                                        .sample = (long long)sample->number,
                                        .name_columns = run->name_columns};
    pkb_code rc = pkb_run_evaluation(run, index, &flight->evaluation, err);
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
