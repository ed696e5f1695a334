/* SPDX-License-Identifier: Apache-2.0
 *
 * Messages of lanes; see job.h.
 */
#include "evaluator/lane/job.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json.h"
#include "evaluator/record/record.h"

static const char *const kinds[] = {
    [PKB_REPLY_STEP] = "step",     [PKB_REPLY_MAY_TIME] = "may_time",
    [PKB_REPLY_TIMED] = "timed",   [PKB_REPLY_RESTS] = "rests",
    [PKB_REPLY_RECORD] = "record", [PKB_REPLY_REFUSED] = "refused",
    [PKB_REPLY_FAILED] = "failed"};

/* ---- texts ---- */

static pkb_code make_file(int *out, const char *text, size_t bytes, pkb_error *err)
{
    int fd = memfd_create("pkb-lane", MFD_CLOEXEC);
    if (fd < 0)
        return pkb_error_set_errno(err, PKB_ERR_MEMORY, "cannot make a file in memory");
    for (size_t at = 0; at < bytes;) {
        const ssize_t count = write(fd, text + at, bytes - at);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0) {
            close(fd);
            return pkb_error_set_errno(err, PKB_ERR_MEMORY, "cannot write a file in memory");
        }
        at += (size_t)count;
    }
    *out = fd;
    return PKB_OK;
}

static pkb_code read_file(pkb_buf *out, const pkb_message *message, size_t limit_bytes,
                          pkb_error *err)
{
    const int fd = message->fd_count == 1 ? message->fds[0] : -1;
    struct stat status;
    char block[65536];
    off_t at = 0;
    ssize_t count = 0;

    if (fd < 0 || fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size < 0 ||
        (size_t)status.st_size > limit_bytes)
        return pkb_error_set(err, PKB_ERR_FORMAT, 0, "a message of a lane lacks its text");
    while ((count = pread(fd, block, sizeof block, at)) != 0) {
        if (count < 0 && errno != EINTR)
            return pkb_error_set_errno(err, PKB_ERR_IO, "cannot read the text of a message");
        if (count > 0) {
            pkb_buf_append(out, block, (size_t)count);
            at += count;
        }
    }
    return pkb_buf_check(out, "the text of a message", err);
}

/* Takes `json` over. `text` NULL = there is none. */
static pkb_code send_json(int socket_fd, cJSON *json, const char *text, size_t bytes,
                          pkb_error *err)
{
    char *line = pkb_json_line(json);
    pkb_code rc = PKB_OK;
    int fd = -1;

    cJSON_Delete(json);
    if (line == NULL)
        return pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for a message");
    if (text != NULL)
        rc = make_file(&fd, text, bytes, err);
    if (rc == PKB_OK)
        rc = pkb_message_send(socket_fd, line, strlen(line), &fd, text != NULL, err);
    if (fd >= 0)
        close(fd);
    cJSON_free(line);
    return rc;
}

/* ---- jobs ---- */

pkb_job pkb_job_of(const pkb_evaluation *evaluation)
{
    const pkb_eval_options *options = &evaluation->setting->options;
    return (pkb_job){.problem = evaluation->problem->full_name,
                     .run = evaluation->run,
                     .file = evaluation->file,
                     .sizes = options->sizes,
                     .sample = evaluation->sample,
                     .is_timed = options->is_timed,
                     .source = evaluation->attempt.source,
                     .source_bytes = evaluation->attempt.bytes};
}

pkb_code pkb_job_send(int socket_fd, const pkb_job *job, pkb_error *err)
{
    cJSON *json = cJSON_CreateObject();

    cJSON_AddStringToObject(json, "problem", job->problem);
    if (job->run != NULL)
        cJSON_AddStringToObject(json, "run", job->run);
    cJSON_AddNumberToObject(json, "sample", (double)job->sample);
    cJSON_AddStringToObject(json, "file", job->file);
    cJSON_AddStringToObject(json, "sizes", job->sizes);
    cJSON_AddBoolToObject(json, "time", job->is_timed);
    return send_json(socket_fd, json, job->source, job->source_bytes, err);
}

pkb_code pkb_job_receive(pkb_job *out, const pkb_message *message, pkb_error *err)
{
    pkb_job job = {0};
    pkb_code rc = pkb_json_parse(&job.json, message->data, message->bytes, "a job", err);

    if (rc == PKB_OK)
        rc = pkb_json_get_string(job.json, "problem", &job.problem, err);
    if (rc == PKB_OK)
        rc = pkb_json_get_i64(job.json, "sample", &job.sample, err);
    if (rc == PKB_OK)
        rc = pkb_json_get_string(job.json, "file", &job.file, err);
    if (rc == PKB_OK)
        rc = pkb_json_get_string(job.json, "sizes", &job.sizes, err);
    if (rc == PKB_OK)
        rc = pkb_json_get_bool(job.json, "time", &job.is_timed, err);
    if (rc == PKB_OK)
        rc = read_file(&job.text, message, PKB_ATTEMPT_LIMIT_BYTES, err);
    if (rc != PKB_OK) {
        pkb_job_clear(&job);
        return rc;
    }
    job.run = pkb_json_string_or(job.json, "run", NULL);
    job.source = pkb_buf_text(&job.text);
    job.source_bytes = job.text.bytes;
    *out = job;
    return PKB_OK;
}

void pkb_job_clear(pkb_job *job)
{
    cJSON_Delete(job->json);
    pkb_buf_clear(&job->text);
    *job = (pkb_job){0};
}

/* ---- orders ---- */

static const char *const orders[] = {[PKB_ORDER_NONE] = "",
                                     [PKB_ORDER_TIME] = "{\"may\":\"time\"}",
                                     [PKB_ORDER_REST] = "{\"must\":\"rest\"}",
                                     [PKB_ORDER_GO_ON] = "{\"may\":\"go_on\"}"};

pkb_code pkb_order_send(int socket_fd, pkb_order order, pkb_error *err)
{
    return pkb_message_send(socket_fd, orders[order], strlen(orders[order]), NULL, 0, err);
}

pkb_order pkb_order_of(const pkb_message *message)
{
    for (pkb_order order = PKB_ORDER_TIME; order <= PKB_ORDER_GO_ON; order++)
        if (message->bytes == strlen(orders[order]) &&
            memcmp(message->data, orders[order], message->bytes) == 0)
            return order;
    return PKB_ORDER_NONE;
}

/* ---- replies ---- */

static cJSON *reply_of(pkb_reply_kind kind)
{
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "reply", kinds[kind]);
    return json;
}

pkb_code pkb_lane_reply_send_step(int socket_fd, const char *step, const char *detail,
                                  pkb_error *err)
{
    cJSON *json = reply_of(PKB_REPLY_STEP);
    cJSON_AddStringToObject(json, "step", step);
    cJSON_AddStringToObject(json, "detail", detail);
    return send_json(socket_fd, json, NULL, 0, err);
}

pkb_code pkb_lane_reply_send_word(int socket_fd, pkb_reply_kind kind, pkb_error *err)
{
    return send_json(socket_fd, reply_of(kind), NULL, 0, err);
}

pkb_code pkb_lane_reply_send_record(int socket_fd, const cJSON *record, pkb_error *err)
{
    char *text = pkb_json_line(record);
    if (text == NULL)
        return pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for the record");
    pkb_code rc = send_json(socket_fd, reply_of(PKB_REPLY_RECORD), text, strlen(text), err);
    cJSON_free(text);
    return rc;
}

pkb_code pkb_lane_reply_send_failure(int socket_fd, pkb_reply_kind kind, const pkb_error *failure,
                                     pkb_error *err)
{
    cJSON *json = reply_of(kind);
    cJSON_AddNumberToObject(json, "code", failure->code);
    cJSON_AddStringToObject(json, "message", failure->message);
    return send_json(socket_fd, json, NULL, 0, err);
}

static pkb_code receive_record(pkb_lane_reply *out, const pkb_message *message, pkb_error *err)
{
    pkb_buf text = {0};
    pkb_code rc = read_file(&text, message, PKB_RECORD_LIMIT_BYTES, err);

    if (rc == PKB_OK)
        rc = pkb_json_parse(&out->record, pkb_buf_text(&text), text.bytes, "a record", err);
    pkb_buf_clear(&text);
    return rc;
}

static pkb_code receive_failure(pkb_lane_reply *out, const cJSON *json, pkb_error *err)
{
    int64_t code = 0;
    pkb_code rc = pkb_json_get_i64(json, "code", &code, err);

    if (rc == PKB_OK && (code <= PKB_OK || code > PKB_ERR_INTERRUPTED))
        rc = pkb_error_set(err, PKB_ERR_FORMAT, 0, "a lane reports an unknown failure");
    if (rc == PKB_OK)
        pkb_error_set(&out->failure, (pkb_code)code, 0, "%s",
                      pkb_json_string_or(json, "message", "a lane failed"));
    return rc;
}

pkb_code pkb_lane_reply_receive(pkb_lane_reply *out, const pkb_message *message, pkb_error *err)
{
    pkb_lane_reply reply = {0};
    cJSON *json = NULL;
    const char *name = "";
    size_t kind = 0;
    pkb_code rc = pkb_json_parse(&json, message->data, message->bytes, "a lane's message", err);

    if (rc == PKB_OK)
        rc = pkb_json_get_string(json, "reply", &name, err);
    while (rc == PKB_OK && kind < sizeof kinds / sizeof kinds[0] && strcmp(kinds[kind], name) != 0)
        kind++;
    reply.kind = (pkb_reply_kind)kind;
    if (rc == PKB_OK && kind == sizeof kinds / sizeof kinds[0])
        rc = pkb_error_set(err, PKB_ERR_FORMAT, 0, "a lane sent an unknown reply '%s'", name);
    else if (rc == PKB_OK && reply.kind == PKB_REPLY_RECORD)
        rc = receive_record(&reply, message, err);
    else if (rc == PKB_OK && (reply.kind == PKB_REPLY_REFUSED || reply.kind == PKB_REPLY_FAILED))
        rc = receive_failure(&reply, json, err);
    snprintf(reply.step, sizeof reply.step, "%s", pkb_json_string_or(json, "step", ""));
    snprintf(reply.detail, sizeof reply.detail, "%s", pkb_json_string_or(json, "detail", ""));
    cJSON_Delete(json);
    if (rc == PKB_OK)
        *out = reply;
    return rc;
}
