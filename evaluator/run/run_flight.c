/* SPDX-License-Identifier: Apache-2.0
 *
 * Samples with lanes; see run_flight.h.
 */
#include "evaluator/run/run_flight.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "evaluator/console/interrupt.h"
#include "evaluator/console/output.h"

void pkb_run_flight_free(pkb_run_flight *flight)
{
    pkb_evaluation_clear(&flight->evaluation);
    free(flight);
}

pkb_code pkb_run_store(pkb_run *run, cJSON *record, int64_t revision, pkb_error *err)
{
    if (!pkb_record_set_revision(record, revision))
        return pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for the record");
    return pkb_results_append(&run->results, record, err);
}

/* ---- telling ---- */

void pkb_run_show_bar(pkb_run *run)
{
    const pkb_summary *summary = &run->summary;
    pkb_bar bar = {.total = run->samples.count,
                   .pending = run->pending_count + run->unread_count,
                   .judged = run->judged_count,
                   .judged_s = (double)(pkb_clock_now_ns() - run->start_ns) / 1e9};
    size_t told = 0;

    for (size_t i = 0; i < summary->count; i++) {
        bar.correct += summary->rows[i].correct;
        told += summary->rows[i].attempts;
    }
    bar.wrong = told - bar.correct - run->pending_count;
    bar.done = told + run->unread_count + run->refused_count;
    pkb_progress_bar(&run->setting->progress, &bar);
}

pkb_code pkb_run_account(pkb_run *run, const pkb_summary_place *place, const cJSON *record,
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

static void show_oldest(pkb_run *run)
{
    char subject[160];

    if (run->flight_count == 0)
        return;
    const pkb_summary_place *place = &run->flights[0]->place;
    snprintf(subject, sizeof subject, "%s/%lld", place->problem, place->sample);
    pkb_progress_subject(&run->setting->progress, subject);
}

void pkb_run_show(void *context, const pkb_evaluation *evaluation, const char *step,
                  const char *detail)
{
    pkb_run *run = context;
    if (run->flight_count > 0 && evaluation == &run->flights[0]->evaluation)
        pkb_progress_step(&run->setting->progress, step, detail);
}

/* ---- giving ---- */

static bool is_with_a_lane(const pkb_run *run, const char *judgement)
{
    for (size_t i = 0; i < run->flight_count; i++)
        if (strcmp(run->flights[i]->judgement, judgement) == 0)
            return true;
    return false;
}

static pkb_code hold(pkb_run *run, const pkb_run_flight *flight, pkb_error *err)
{
    if (run->held_count == run->held_capacity) {
        const size_t wanted = run->held_capacity == 0 ? 16 : 2 * run->held_capacity;
        pkb_run_held *larger = reallocarray(run->held, wanted, sizeof *run->held);
        if (larger == NULL)
            return pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for equal attempts");
        run->held = larger;
        run->held_capacity = wanted;
    }
    pkb_run_held *held = &run->held[run->held_count++];
    held->index = flight->place.index - 1;
    memcpy(held->judgement, flight->judgement, sizeof held->judgement);
    return PKB_OK;
}

pkb_code pkb_run_give(pkb_run *run, pkb_run_flight *flight, bool *is_away, pkb_error *err)
{
    pkb_code rc = PKB_OK;

    if (!is_with_a_lane(run, flight->judgement))
        rc = pkb_lanes_give(&run->lanes, &flight->evaluation, is_away, err);
    if (rc != PKB_OK)
        return rc;
    if (!*is_away)
        return hold(run, flight, err);
    run->flights[run->flight_count++] = flight;
    if (run->flight_count == 1)
        show_oldest(run);
    return PKB_OK;
}

/* ---- taking ---- */

/* Those that waited for this judgement's record find it now; without one, the first of them is
 * judged, and the others wait for it. */
static pkb_code release(pkb_run *run, const char *judgement, pkb_error *err)
{
    pkb_code rc = PKB_OK;
    size_t place = 0;

    for (size_t left = run->held_count; left > 0 && rc == PKB_OK; left--) {
        pkb_run_held *held = &run->held[place];
        if (strcmp(held->judgement, judgement) != 0) {
            place++;
            continue;
        }
        const size_t index = held->index;
        memmove(held, held + 1, (run->held_count - place - 1) * sizeof *held);
        run->held_count--;
        rc = pkb_run_sample(run, index, err);
    }
    return rc;
}

/* The resolver said no to a problem: not an error of the run. */
static void refuse(pkb_run *run, const pkb_summary_place *place, const pkb_error *why)
{
    run->refused_count++;
    if (run->refused == place->problem)
        return;
    run->refused = place->problem;
    run->refusal = *why;
    pkb_run_say(run, "not judged: ", why->message);
}

static pkb_code land(pkb_run *run, const pkb_run_flight *flight, const pkb_lanes_result *result,
                     pkb_error *err)
{
    cJSON *record = flight->evaluation.record;

    if (result->is_refused) {
        refuse(run, &flight->place, &result->failure);
        return PKB_OK;
    }
    if (result->failure.code != PKB_OK) {
        *err = result->failure;
        return result->failure.code;
    }
    run->judged_count++;
    pkb_code rc = pkb_run_store(run, record, flight->revision, err);
    return rc == PKB_OK ? pkb_run_account(run, &flight->place, record, true, err) : rc;
}

static pkb_code take_result(pkb_run *run, const pkb_lanes_result *result, pkb_error *err)
{
    size_t place = 0;

    while (&run->flights[place]->evaluation != result->evaluation)
        place++;
    pkb_run_flight *flight = run->flights[place];
    run->flight_count--;
    memmove(&run->flights[place], &run->flights[place + 1],
            (run->flight_count - place) * sizeof(pkb_run_flight *));
    pkb_code rc = land(run, flight, result, err);
    pkb_run_show_bar(run);
    if (place == 0)
        show_oldest(run);
    if (rc == PKB_OK && run->failures_in_a_row < PKB_RUN_MOST_FAILURES &&
        pkb_interrupt_check_asked(NULL) == PKB_OK)
        rc = release(run, flight->judgement, err);
    pkb_run_flight_free(flight);
    return rc;
}

static void rest(const pkb_run *run)
{
    struct pollfd fds[PKB_LANES_MOST];
    const size_t count = pkb_lanes_poll(&run->lanes, fds);
    poll(fds, count, PKB_TICK_MS);
}

pkb_code pkb_run_wait(pkb_run *run, size_t most, pkb_error *err)
{
    pkb_lanes_result result;
    pkb_code rc = pkb_interrupt_check(err);

    while (rc == PKB_OK && run->flight_count > most) {
        rc = pkb_lanes_take(&run->lanes, &result, err);
        if (rc == PKB_OK && result.evaluation != NULL)
            rc = take_result(run, &result, err);
        else if (rc == PKB_OK)
            rest(run);
        pkb_foresight_tick(&run->foresight, &run->lanes);
        pkb_progress_tick(&run->setting->progress);
        if (rc == PKB_OK)
            rc = pkb_interrupt_check(err);
    }
    return rc;
}

void pkb_run_end_lanes(pkb_run *run)
{
    pkb_lanes_close(&run->lanes);
    while (run->flight_count > 0)
        pkb_run_flight_free(run->flights[--run->flight_count]);
    free(run->held);
    run->held = NULL;
    run->held_count = run->held_capacity = 0;
}
