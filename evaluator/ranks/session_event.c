/* SPDX-License-Identifier: Apache-2.0
 *
 * What judges say, and how a session fails; see session.h.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/verdict.h"
#include "evaluator/ranks/session_state.h"

enum { LOG_LIMIT_BYTES = 1 << 20 };

/* The first line that a judge or mpirun wrote says why; rules of dashes and banners follow it. */
static void append_first_line(const pkb_session *session, char *out, size_t bytes)
{
    char *text = NULL;
    size_t length = 0, used = strlen(out);

    if (pkb_fs_read(session->log_path, LOG_LIMIT_BYTES, &text, &length, NULL) != PKB_OK)
        return;
    const char *first = text + strspn(text, "- \n");
    int shown = (int)strcspn(first, "\n");
    if (shown > 0)
        snprintf(out + used, bytes - used, "; the ranks said: %.*s", shown < 240 ? shown : 240,
                 first);
    free(text);
}

static void fail(pkb_session *session, pkb_code code, const char *message)
{
    if (session->failure.code != PKB_OK)
        return;
    pkb_error_set(&session->failure, code, 0, "%s", message);
}

static void fail_child(pkb_session *session, const char *who, const char *how)
{
    char message[512];
    snprintf(message, sizeof message, "%s %s", who, how);
    append_first_line(session, message, sizeof message);
    fail(session, PKB_ERR_CHILD, message);
}

pkb_code pkb_session_send_open(pkb_session *session, const pkb_judge_link *judge, pkb_error *err)
{
    cJSON *request = cJSON_CreateObject();
    cJSON_AddStringToObject(request, "verb", "open");
    cJSON_AddStringToObject(request, "plan", session->plan_path);
    cJSON_AddStringToObject(request, "secret", session->secret);
    char *text = pkb_json_line(request);
    pkb_code rc = text != NULL
                      ? pkb_message_send(judge->socket_fd, text, strlen(text), NULL, 0, err)
                      : pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for a request");
    cJSON_free(text);
    cJSON_Delete(request);
    return rc;
}

static pkb_code on_hello(pkb_session *session, pkb_judge_link *judge, const cJSON *event,
                         pkb_error *err)
{
    int64_t rank = -1;
    pkb_code rc = pkb_json_get_i64(event, "rank", &rank, err);
    if (rc != PKB_OK)
        return rc;
    if (rank < 0 || rank >= session->options.world)
        return pkb_error_set(err, PKB_ERR_CHILD, 0, "a judge says that it is rank %d of %d",
                             (int)rank, session->options.world);
    judge->rank = (int)rank;
    return session->plan != NULL ? pkb_session_send_open(session, judge, err) : PKB_OK;
}

static void on_progress(pkb_session *session, const cJSON *event)
{
    snprintf(session->size, sizeof session->size, "%s", pkb_json_string_or(event, "size", "?"));
    snprintf(session->step, sizeof session->step, "%s",
             pkb_json_string_or(event, "step", "working"));
}

static pkb_code on_verdict(pkb_session *session, const cJSON *event, pkb_error *err)
{
    const char *name = NULL;
    pkb_verdict verdict;
    pkb_code rc = pkb_json_get_string(event, "verdict", &name, err);
    if (rc == PKB_OK)
        rc = pkb_verdict_parse(name, &verdict, err);
    if (rc != PKB_OK)
        return rc;
    cJSON_Delete(session->verdict);
    session->verdict = cJSON_Duplicate(event, true);
    return PKB_OK;
}

/* Whether a judge says that it got no memory, file or process. */
static bool is_lack(const cJSON *event)
{
    static const int lacks[] = {ENOMEM, ENOSPC, EDQUOT, EMFILE, ENFILE, EAGAIN};
    const char *code = pkb_json_string_or(event, "code", "");
    int64_t detail = 0;

    if (strcmp(code, pkb_code_name(PKB_ERR_MEMORY)) == 0)
        return true;
    if (strcmp(code, pkb_code_name(PKB_ERR_IO)) != 0 ||
        pkb_json_get_i64(event, "detail", &detail, NULL) != PKB_OK)
        return false;
    for (size_t i = 0; i < sizeof lacks / sizeof lacks[0]; i++)
        if (detail == lacks[i])
            return true;
    return false;
}

static pkb_code on_event(pkb_session *session, pkb_judge_link *judge, cJSON *event, pkb_error *err)
{
    const char *kind = pkb_json_string_or(event, "event", "");

    if (strcmp(kind, "hello") == 0)
        return on_hello(session, judge, event, err);
    if (strcmp(kind, "opened") == 0) {
        session->opened_count += !judge->is_open;
        judge->is_open = true;
    } else if (strcmp(kind, "progress") == 0) {
        on_progress(session, event);
    } else if (strcmp(kind, "may_time") == 0 && judge->rank == 0) {
        session->turn = PKB_TURN_WANTED;
    } else if (strcmp(kind, "timed") == 0 && judge->rank == 0) {
        session->turn = PKB_TURN_NONE;
    } else if (strcmp(kind, "verdict") == 0 && judge->rank == 0) {
        return on_verdict(session, event, err);
    } else if (strcmp(kind, "error") == 0) {
        session->has_lacked = is_lack(event);
        return pkb_error_set(err, PKB_ERR_CHILD, 0, "rank %d: %s", judge->rank,
                             pkb_json_string_or(event, "message", "failed without a message"));
    } else {
        return pkb_error_set(err, PKB_ERR_CHILD, 0, "rank %d sent an unknown event '%s'",
                             judge->rank, kind);
    }
    return PKB_OK;
}

static void receive(pkb_session *session, pkb_judge_link *judge)
{
    pkb_error err = {0};
    cJSON *event = NULL;

    pkb_code rc = pkb_message_receive(judge->socket_fd, session->message, PKB_NS_PER_MS, &err);
    if (rc == PKB_ERR_TIMEOUT)
        return;
    if (rc != PKB_OK) {
        char who[48];
        snprintf(who, sizeof who, "the judge of rank %d", judge->rank);
        fail_child(session, who, "ended unexpectedly");
        close(judge->socket_fd);
        judge->socket_fd = -1;
        return;
    }
    rc = pkb_json_parse(&event, session->message->data, session->message->bytes,
                        "a judge's message", &err);
    if (rc == PKB_OK)
        rc = on_event(session, judge, event, &err);
    if (rc != PKB_OK)
        fail(session, rc, err.message);
    cJSON_Delete(event);
}

static void accept_judge(pkb_session *session)
{
    pkb_error err = {0};
    pid_t pid = 0;
    int socket_fd = -1;

    pkb_code rc = pkb_socket_accept(&socket_fd, session->listener, 10 * PKB_NS_PER_MS, &pid, &err);
    if (rc == PKB_ERR_TIMEOUT)
        return; /* somebody else's process, dropped */
    if (rc != PKB_OK || session->judge_count == (size_t)session->options.world) {
        fail(session, PKB_ERR_CHILD, rc != PKB_OK ? err.message : "more judges came than ranks");
        if (socket_fd >= 0)
            close(socket_fd);
        return;
    }
    pkb_judge_link *judge = &session->judges[session->judge_count++];
    *judge = (pkb_judge_link){
        .socket_fd = socket_fd, .pidfd = (int)syscall(SYS_pidfd_open, pid, 0), .rank = -1};
    if (pkb_workdir_note(session->options.workdir, pid, &err) != PKB_OK)
        fail(session, err.code, err.message);
}

static void watch_mpirun(pkb_session *session)
{
    pkb_child_exit how;
    char text[64];

    if (session->mpirun.pid == 0 ||
        pkb_child_wait(&session->mpirun, 0, &how, NULL) == PKB_ERR_TIMEOUT)
        return;
    pkb_child_exit_text(&how, text, sizeof text);
    fail_child(session, "mpirun", text);
}

void pkb_session_pump(pkb_session *session)
{
    while (session->failure.code == PKB_OK && pkb_socket_is_readable(session->listener))
        accept_judge(session);
    for (size_t i = 0; i < session->judge_count; i++)
        while (session->failure.code == PKB_OK &&
               pkb_socket_is_readable(session->judges[i].socket_fd))
            receive(session, &session->judges[i]);
    if (session->failure.code == PKB_OK && session->verdict == NULL)
        watch_mpirun(session);
}
