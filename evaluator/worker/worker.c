/* SPDX-License-Identifier: Apache-2.0
 *
 * Waits for requests and for lanes, and brings them together; see worker.h.
 */
#include "evaluator/worker/worker.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "evaluator/console/interrupt.h"
#include "evaluator/console/output.h"
#include "evaluator/version.h"
#include "evaluator/worker/worker_state.h"

/* Ranks hold memory, also of GPUs, so they are not kept for ever; they come up in seconds. */
#define IDLE_NS (300 * PKB_NS_PER_S)

enum { REST_MS = 200, MOST_OVERTAKEN = 32 };

static pkb_code say_ready(const pkb_worker *worker, pkb_error *err)
{
    const pkb_lanes *lanes = &worker->lanes;
    const bool has_gpus = worker->setting->gpus.count > 0;
    const int most = has_gpus ? (int)lanes->gpu_room.place_count : PKB_MAX_WORLD;
    cJSON *ready = cJSON_CreateObject();

    cJSON_AddBoolToObject(ready, "ready", true);
    cJSON_AddStringToObject(ready, "version", PKB_VERSION);
    cJSON *worlds = cJSON_AddArrayToObject(ready, "worlds");
    for (int ranks = 1; ranks <= most; ranks++)
        cJSON_AddItemToArray(worlds, cJSON_CreateNumber(ranks));
    pkb_code rc = pkb_output_json(ready, err);
    cJSON_Delete(ready);
    return rc;
}

/* ---- the queue ---- */

static size_t waiting_count(const pkb_worker *worker)
{
    return worker->job_count - pkb_lanes_busy(&worker->lanes);
}

static void remove_job(pkb_worker *worker, size_t place)
{
    pkb_worker_job_free(worker->jobs[place]);
    worker->job_count--;
    memmove(&worker->jobs[place], &worker->jobs[place + 1],
            (worker->job_count - place) * sizeof(pkb_worker_job *));
}

/* Whether a lane judges the same already, so that its record will do. */
static bool follows(const pkb_worker *worker, const pkb_worker_job *job)
{
    for (size_t i = 0; i < worker->job_count; i++)
        if (worker->jobs[i]->is_away && !job->request.is_fresh &&
            strcmp(worker->jobs[i]->judgement, job->judgement) == 0)
            return true;
    return false;
}

/* Gives a job to a lane, or finds its answer; `*is_gone` once it is no longer in the queue. */
static pkb_code give(pkb_worker *worker, size_t place, bool *is_gone, pkb_error *err)
{
    pkb_worker_job *job = worker->jobs[place];
    pkb_error why = {0};
    bool is_answered = false;

    *is_gone = false;
    if (follows(worker, job))
        return PKB_OK;
    pkb_code rc = pkb_worker_recall(worker, job, &is_answered, err);
    if (rc == PKB_OK && !is_answered) {
        rc = pkb_lanes_give(&worker->lanes, &job->evaluation, &job->is_away, &why);
        if (rc != PKB_OK) {
            is_answered = true;
            rc = pkb_worker_answer_error(job->request.id, &why, err);
        }
    }
    if (is_answered || job->is_away)
        pkb_ahead_take(worker->foresight.ahead, job->number);
    if (is_answered) {
        remove_job(worker, place);
        *is_gone = true;
    }
    return rc;
}

/* Later jobs may be given first, where room for them is found first. But one that was overtaken
 * often enough is no more: lanes then end their work, and there is room for it. */
static bool may_overtake(const pkb_worker *worker, size_t place)
{
    for (size_t i = 0; i < place; i++)
        if (!worker->jobs[i]->is_away && worker->jobs[i]->overtaken >= MOST_OVERTAKEN)
            return false;
    return true;
}

static void count_overtaken(pkb_worker *worker, size_t place)
{
    for (size_t i = 0; i < place; i++)
        worker->jobs[i]->overtaken +=
            !worker->jobs[i]->is_away && !follows(worker, worker->jobs[i]);
}

static pkb_code give_some(pkb_worker *worker, bool only_to_ready, pkb_error *err)
{
    pkb_code rc = PKB_OK;
    bool is_gone = false;

    for (size_t i = 0; i < worker->job_count && rc == PKB_OK; i += !is_gone) {
        const pkb_worker_job *job = worker->jobs[i];
        is_gone = false;
        if (job->is_away || !may_overtake(worker, i) ||
            (only_to_ready && !pkb_lanes_is_ready(&worker->lanes, &job->setting)))
            continue;
        rc = give(worker, i, &is_gone, err);
        if (!is_gone && job->is_away)
            count_overtaken(worker, i);
    }
    return rc;
}

/* Ranks of another kind cost seconds, so those that are up come first. */
static pkb_code give_all(pkb_worker *worker, pkb_error *err)
{
    pkb_code rc = give_some(worker, true, err);
    return rc == PKB_OK ? give_some(worker, false, err) : rc;
}

/* ---- what comes ---- */

static bool is_readable(int fd)
{
    struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
    return poll(&poll_fd, 1, 0) > 0;
}

/* Takes lines while the queue has room for them. */
static pkb_code take_lines(pkb_worker *worker, pkb_error *err)
{
    pkb_code rc = PKB_OK;
    pkb_line line;

    while (rc == PKB_OK && !worker->has_ended && waiting_count(worker) < PKB_WORKER_QUEUE) {
        if (pkb_lines_take(&worker->input, &line)) {
            worker->has_ended = line.text == NULL;
            if (line.bytes > 0 || line.is_too_long)
                rc = pkb_worker_accept(worker, &line, err);
            if (rc == PKB_OK)
                rc = give_all(worker, err);
        } else if (is_readable(worker->input.fd)) {
            rc = pkb_lines_read(&worker->input, err);
        } else {
            break;
        }
    }
    return rc;
}

static pkb_code take_result(pkb_worker *worker, const pkb_lanes_result *result, pkb_error *err)
{
    size_t place = 0;

    while (&worker->jobs[place]->evaluation != result->evaluation)
        place++;
    const pkb_worker_job *job = worker->jobs[place];
    pkb_code rc = result->failure.code != PKB_OK
                      ? pkb_worker_answer_error(job->request.id, &result->failure, err)
                      : pkb_worker_answer(worker, job, err);
    remove_job(worker, place);
    return rc;
}

static pkb_code take_results(pkb_worker *worker, pkb_error *err)
{
    pkb_lanes_result result = {0};
    pkb_code rc = PKB_OK;

    do {
        rc = pkb_lanes_take(&worker->lanes, &result, err);
        if (rc == PKB_OK && result.evaluation != NULL)
            rc = take_result(worker, &result, err);
        if (rc == PKB_OK)
            rc = give_all(worker, err);
    } while (rc == PKB_OK && result.evaluation != NULL);
    return rc;
}

/* Until something comes. Without a reader there is nobody to judge for. */
static pkb_code rest(const pkb_worker *worker, pkb_error *err)
{
    struct pollfd fds[2 + PKB_LANES_MOST];
    const bool wants_input = !worker->has_ended && waiting_count(worker) < PKB_WORKER_QUEUE;
    const size_t lane_count = pkb_lanes_poll(&worker->lanes, fds + 2);
    const int rest_ms =
        waiting_count(worker) > 0 ? PKB_TICK_MS : REST_MS; /* compilers say nothing */

    fds[0] = (struct pollfd){.fd = STDOUT_FILENO};
    fds[1] = (struct pollfd){.fd = wants_input ? worker->input.fd : -1, .events = POLLIN};
    if (poll(fds, 2 + lane_count, rest_ms) > 0 && (fds[0].revents & (POLLERR | POLLHUP)) != 0)
        return pkb_error_set(err, PKB_ERR_DISK, 0, "nobody reads standard output any more");
    return PKB_OK;
}

static pkb_code serve(pkb_worker *worker, pkb_error *err)
{
    pkb_code rc = say_ready(worker, err);

    while (rc == PKB_OK && (!worker->has_ended || worker->job_count > 0)) {
        rc = pkb_interrupt_check(err);
        if (rc == PKB_OK)
            rc = take_results(worker, err);
        if (rc == PKB_OK)
            rc = take_lines(worker, err);
        pkb_worker_ahead_tick(worker);
        if (rc == PKB_OK && (!worker->has_ended || worker->job_count > 0))
            rc = rest(worker, err);
        pkb_lanes_end_idle(&worker->lanes, IDLE_NS);
    }
    /* A signal may have been what a write failed of. */
    return pkb_interrupt_check(err) == PKB_OK ? rc : PKB_ERR_INTERRUPTED;
}

static void note(void *worker, const char *text)
{
    (void)worker;
    fprintf(stderr, "note: %s\n", text);
}

static pkb_code open_all(pkb_worker *worker, pkb_error *err)
{
    const pkb_results_options results = {.path = worker->setting->options.output,
                                         .visit = pkb_numbering_see,
                                         .context = &worker->numbering};
    pkb_room gpu_room, cpu_room;

    pkb_code rc = pkb_room_find(&gpu_room, &cpu_room, worker->setting, err);
    if (rc == PKB_OK && results.path != NULL)
        rc = pkb_results_open(&worker->results, &results, err);
    if (rc == PKB_OK)
        rc = pkb_lines_open_stream(&worker->input, STDIN_FILENO, "standard input",
                                   PKB_REQUEST_LIMIT_BYTES, err);
    if (rc == PKB_OK)
        rc = pkb_lanes_open(&worker->lanes, &gpu_room, &cpu_room, err);
    worker->lanes.note = note;
    worker->lanes.turns.before = pkb_foresight_pause;
    worker->lanes.turns.context = &worker->foresight;
    return rc;
}

pkb_code pkb_worker_run(pkb_setting *setting, const pkb_eval_options *given, pkb_error *err)
{
    pkb_worker *worker = calloc(1, sizeof *worker);
    if (worker == NULL)
        return pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for a worker");
    worker->setting = setting;
    worker->given = given;
    worker->shelf.catalogue = &setting->catalogue;
    worker->input = (pkb_lines)PKB_LINES_NONE;
    worker->results = (pkb_results)PKB_RESULTS_NONE;

    pkb_code rc = open_all(worker, err);
    if (rc == PKB_OK) {
        pkb_worker_ahead_start(worker);
        rc = serve(worker, err);
        pkb_foresight_end(&worker->foresight);
    }
    pkb_lanes_close(&worker->lanes);
    while (worker->job_count > 0)
        pkb_worker_job_free(worker->jobs[--worker->job_count]);
    for (size_t i = 0; i < worker->kind_count; i++)
        free(worker->kinds[i]);
    pkb_lines_close(&worker->input);
    pkb_results_close(&worker->results);
    pkb_numbering_clear(&worker->numbering);
    pkb_memo_clear(&worker->memo);
    pkb_shelf_clear(&worker->shelf);
    free(worker);
    return rc;
}
