/* SPDX-License-Identifier: Apache-2.0
 *
 * One request of a worker, from its line to its answer; see worker_state.h.
 */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "evaluator/console/clean.h"
#include "evaluator/console/output.h"
#include "evaluator/worker/worker_state.h"

void pkb_worker_job_free(pkb_worker_job *job)
{
    pkb_evaluation_clear(&job->evaluation);
    pkb_request_clear(&job->request);
    free(job);
}

/* ---- answers ---- */

static cJSON *answer_to(const cJSON *id)
{
    cJSON *answer = cJSON_CreateObject();
    cJSON_AddItemToObject(answer, "request",
                          id != NULL ? cJSON_Duplicate(id, true) : cJSON_CreateNull());
    return answer;
}

pkb_code pkb_worker_answer_error(const cJSON *id, const pkb_error *why, pkb_error *err)
{
    cJSON *answer = answer_to(id), *error = cJSON_AddObjectToObject(answer, "error");

    cJSON_AddStringToObject(error, "code", pkb_code_name(why->code));
    cJSON_AddStringToObject(error, "message", why->message);
    pkb_code rc = pkb_clean_json(error, err); /* it may quote a word of the request, or half */
    if (rc == PKB_OK)
        rc = pkb_output_json(answer, err);
    cJSON_Delete(answer);
    return rc;
}

static pkb_code answer_record(const pkb_worker_job *job, const char *record, pkb_error *err)
{
    cJSON *answer = answer_to(job->request.id);

    cJSON_AddRawToObject(answer, "record", record);
    pkb_code rc = pkb_output_json(answer, err);
    cJSON_Delete(answer);
    return rc;
}

pkb_code pkb_worker_answer(pkb_worker *worker, const pkb_worker_job *job, pkb_error *err)
{
    const cJSON *record = job->evaluation.record;
    char *text = pkb_json_line(record);
    pkb_code rc = PKB_OK;

    if (text == NULL)
        return pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for a record");
    if (worker->results.fd >= 0)
        rc = pkb_results_append(&worker->results, record, err);
    if (rc == PKB_OK && !pkb_record_is_pending(record))
        rc = pkb_memo_keep(&worker->memo, job->judgement, text, err);
    if (rc == PKB_OK)
        rc = answer_record(job, text, err);
    cJSON_free(text);
    return rc;
}

/* ---- what was found before ---- */

/* The file of -o may hold records of other runs: they keep their judgement under our name. */
static pkb_code recall_stored(pkb_worker *worker, const pkb_worker_job *job, cJSON **out,
                              pkb_error *err)
{
    const pkb_record_facts facts = pkb_evaluation_facts(&job->evaluation);
    const pkb_results_query query = {.judgement = job->judgement,
                                     .old_verdicts = PKB_VERDICTS_ALL,
                                     .new_verdicts = PKB_VERDICTS_ALL};
    const pkb_results_entry *entry = pkb_results_index_find(&worker->results.index, &query);
    cJSON *found = NULL;
    pkb_buf id = {0};

    if (entry == NULL)
        return PKB_OK;
    pkb_record_id(&id, &facts);
    const bool is_own = strcmp(pkb_buf_text(&id), entry->id) == 0;
    pkb_buf_clear(&id);
    pkb_code rc = pkb_results_read(&worker->results, entry, &found, err);
    if (rc == PKB_OK && !is_own) {
        rc = pkb_record_copy(out, found, &facts, err);
        cJSON_Delete(found);
    } else if (rc == PKB_OK) {
        *out = found;
    }
    return rc;
}

pkb_code pkb_worker_recall(pkb_worker *worker, const pkb_worker_job *job, bool *is_answered,
                           pkb_error *err)
{
    const char *known = pkb_memo_find(&worker->memo, job->judgement);
    cJSON *stored = NULL;

    *is_answered = false;
    if (job->request.is_fresh)
        return PKB_OK;
    if (known != NULL) {
        *is_answered = true;
        return answer_record(job, known, err);
    }
    pkb_code rc = recall_stored(worker, job, &stored, err);
    if (rc != PKB_OK || stored == NULL)
        return rc;
    char *text = pkb_json_line(stored);
    cJSON_Delete(stored);
    if (text == NULL)
        return pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for a record");
    *is_answered = true;
    rc = pkb_memo_keep(&worker->memo, job->judgement, text, err);
    if (rc == PKB_OK)
        rc = answer_record(job, text, err);
    cJSON_free(text);
    return rc;
}

/* ---- a new line ---- */

/* What requests of that device and world share. */
static pkb_code find_kind(pkb_worker *worker, const pkb_request *request, pkb_setting *out,
                          pkb_error *err)
{
    pkb_eval_options options = *worker->given;

    options.device = request->device != NULL ? request->device : worker->setting->options.device;
    options.world = request->world > 0 ? request->world : options.world;
    for (size_t i = 0; i < worker->kind_count; i++)
        if (strcmp(worker->kinds[i]->options.device, options.device) == 0 &&
            worker->kinds[i]->options.world == options.world) {
            *out = *worker->kinds[i];
            return PKB_OK;
        }
    if (strcmp(options.device, "cpu") == 0)
        options.gpus = NULL; /* those are for the others */
    pkb_setting *kind = malloc(sizeof *kind);
    if (kind == NULL)
        return pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for a kind of world");
    pkb_code rc = pkb_setting_vary(kind, worker->setting, &options, err);
    if (rc != PKB_OK) {
        free(kind);
        return rc;
    }
    kind->options.device = kind->gpus.count > 0 ? "cuda" : "cpu"; /* longer than the request's */
    worker->kinds[worker->kind_count++] = kind;
    *out = *kind;
    return PKB_OK;
}

static pkb_code prepare(pkb_worker *worker, pkb_worker_job *job, pkb_error *err)
{
    const pkb_request *request = &job->request;
    pkb_evaluation *evaluation = &job->evaluation;
    pkb_code rc = find_kind(worker, request, &job->setting, err);
    if (rc != PKB_OK)
        return rc;
    if (request->sizes.bytes > 0)
        job->setting.options.sizes = pkb_buf_text(&request->sizes);
    if (request->has_time)
        job->setting.options.is_timed = request->is_timed;
    *evaluation =
        (pkb_evaluation){.setting = &job->setting,
                         .file = request->file != NULL ? request->file : "attempt.cu",
                         .source = request->source,
                         .source_bytes = request->source != NULL ? strlen(request->source) : 0,
                         .run = PKB_WORKER_RUN};
    rc = pkb_shelf_get(&worker->shelf, request->problem, &evaluation->problem, err);
    if (rc == PKB_OK)
        rc = pkb_evaluation_read(evaluation, err);
    if (rc == PKB_OK && worker->results.fd >= 0)
        rc = pkb_numbering_find(&worker->numbering, evaluation->problem->full_name,
                                evaluation->attempt.sha256, &evaluation->sample, err);
    if (rc == PKB_OK)
        rc = pkb_evaluation_judgement(evaluation, job->setting.options.is_timed, job->judgement,
                                      err);
    return rc;
}

static pkb_code take_job(pkb_worker *worker, pkb_worker_job *job, bool *is_answered, pkb_error *err)
{
    pkb_error why = {0};
    pkb_code rc = prepare(worker, job, &why);

    *is_answered = true;
    if (rc != PKB_OK)
        return pkb_worker_answer_error(job->request.id, &why, err);
    if (!job->evaluation.attempt.is_blank)
        return pkb_worker_recall(worker, job, is_answered, err);
    rc = pkb_evaluation_judge(&job->evaluation, NULL, err); /* by looking at it */
    return rc == PKB_OK ? pkb_worker_answer(worker, job, err) : rc;
}

pkb_code pkb_worker_accept(pkb_worker *worker, const pkb_line *line, pkb_error *err)
{
    pkb_worker_job *job = calloc(1, sizeof *job);
    pkb_error why = {0};
    bool is_answered = true;

    if (job == NULL)
        return pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for a request");
    pkb_code rc = pkb_request_parse(&job->request, &worker->setting->catalogue, line, &why);
    if (rc == PKB_OK)
        rc = take_job(worker, job, &is_answered, err);
    else
        rc = pkb_worker_answer_error(job->request.id, &why, err);
    if (rc == PKB_OK && !is_answered) {
        job->number = worker->next_number++;
        worker->jobs[worker->job_count++] = job;
    } else {
        pkb_worker_job_free(job);
    }
    return rc;
}
