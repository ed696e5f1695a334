/* SPDX-License-Identifier: Apache-2.0
 *
 * Judges under mpirun; see session.h. What arrives is handled in session_event.c.
 */
#include "evaluator/ranks/session.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/json.h"
#include "evaluator/machine/oom.h"
#include "evaluator/ranks/patience.h"
#include "evaluator/ranks/session_state.h"

enum { OPEN_TIMEOUT_S = 120, CLOSE_TIMEOUT_S = 3, JUDGE_STEPS = 40, JUDGE_SLACK_S = 120 };

/* Everything that Open MPI leaves on disk lies in the work directory; it may use one host only. */
static pkb_code start_mpirun(pkb_session *session, int log_fd, pkb_error *err)
{
    const pkb_session_options *options = &session->options;
    const char *work = options->workdir->path;
    char count[16], timeout[32];
    const char *const argv[] = {options->tools->tools[PKB_TOOL_MPIRUN].path,
                                "--bind-to",
                                "none",
                                "--allow-run-as-root",
                                "--oversubscribe",
                                "--mca",
                                "plm",
                                "isolated",
                                "--mca",
                                "orte_tmpdir_base",
                                work,
                                "--mca",
                                "btl_vader_backing_directory",
                                work,
                                "--mca",
                                "mpi_yield_when_idle",
                                "1",
                                "-n",
                                count,
                                options->tools->tools[PKB_TOOL_JUDGE].path,
                                "--work",
                                work,
                                "--python",
                                options->tools->tools[PKB_TOOL_PYTHON].path,
                                "--device",
                                options->device,
                                "--root",
                                options->tools->root,
                                "--timeout",
                                timeout,
                                options->gpus != NULL ? "--gpus" : NULL,
                                options->gpus,
                                "--cudart",
                                options->tools->tools[PKB_TOOL_CUDART].path,
                                NULL};
    const pkb_child_options child = {.argv = argv,
                                     .directory = options->tools->root,
                                     .stdin_fd = -1,
                                     .stdout_fd = log_fd,
                                     .stderr_fd = log_fd};

    snprintf(count, sizeof count, "%d", options->world);
    snprintf(timeout, sizeof timeout, "%g", options->timeout_s);
    pkb_code rc = pkb_child_start(&session->mpirun, &child, err);
    if (rc == PKB_OK)
        rc = pkb_workdir_note(options->workdir, session->mpirun.pid, err);
    return rc;
}

static pkb_code prepare(pkb_session *session, pkb_error *err)
{
    const pkb_session_options *options = &session->options;
    pkb_code rc = PKB_OK;
    char *socket_path = pkb_workdir_path(options->workdir, "control.sock");
    int log_fd = -1;

    session->plan_path = pkb_workdir_path(options->workdir, "plan.json");
    session->log_path = pkb_workdir_path(options->workdir, "ranks.log");
    if (socket_path == NULL || session->plan_path == NULL || session->log_path == NULL)
        rc = pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for the session");
    if (rc == PKB_OK)
        rc = pkb_message_create(&session->message, err);
    if (rc == PKB_OK)
        rc = pkb_socket_listen(&session->listener, socket_path, err);
    if (rc == PKB_OK) {
        log_fd = open(session->log_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
        if (log_fd < 0)
            rc = pkb_error_set_errno(err, PKB_ERR_IO, "cannot write %s", session->log_path);
    }
    if (rc == PKB_OK)
        rc = start_mpirun(session, log_fd, err);
    if (log_fd >= 0)
        close(log_fd);
    free(socket_path);
    return rc;
}

pkb_code pkb_session_start(pkb_session **out, const pkb_session_options *options, pkb_error *err)
{
    pkb_session *session = calloc(1, sizeof *session);
    if (session == NULL)
        return pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for the session");

    session->options = *options;
    session->mpirun = (pkb_child)PKB_CHILD_NONE;
    session->listener = -1;
    for (size_t i = 0; i < PKB_SESSION_RANKS; i++)
        session->judges[i] = (pkb_judge_link){.socket_fd = -1, .pidfd = -1, .rank = -1};
    pkb_code rc = prepare(session, err);
    if (rc != PKB_OK) {
        pkb_session_close(session);
        return rc;
    }
    *out = session;
    return PKB_OK;
}

pkb_code pkb_session_open(pkb_session *session, const pkb_plan *plan, const char *secret,
                          pkb_error *err)
{
    pkb_code rc =
        pkb_fs_write(session->plan_path, pkb_buf_text(&plan->text), plan->text.bytes, err);

    session->plan = plan;
    snprintf(session->secret, sizeof session->secret, "%s", secret);
    session->opened_count = 0;
    for (size_t i = 0; i < session->judge_count; i++)
        session->judges[i].is_open = false;
    for (size_t i = 0; i < session->judge_count && rc == PKB_OK; i++)
        if (session->judges[i].rank >= 0) /* the others are sent it when they say hello */
            rc = pkb_session_send_open(session, &session->judges[i], err);
    return rc;
}

/* Sleeps until something arrives or a tick is over. */
static void rest(const pkb_session *session)
{
    struct pollfd fds[PKB_SESSION_RANKS + 3];
    nfds_t count = 0;

    fds[count++] = (struct pollfd){.fd = session->mpirun.pidfd, .events = POLLIN};
    fds[count++] = (struct pollfd){.fd = session->listener, .events = POLLIN};
    for (size_t i = 0; i < session->judge_count; i++)
        fds[count++] = (struct pollfd){.fd = session->judges[i].socket_fd, .events = POLLIN};
    fds[count++] = (struct pollfd){.fd = session->options.wake_fd, .events = POLLIN};
    poll(fds, count, PKB_TICK_MS);
}

/* Runs the session until `is_reached`. */
static pkb_code wait_for(pkb_session *session, bool (*is_reached)(const pkb_session *),
                         double seconds, const pkb_idle *idle, pkb_error *err)
{
    uint64_t deadline_ns = pkb_clock_now_ns() + (uint64_t)(seconds * 1e9);
    for (;;) {
        pkb_session_pump(session);
        if (session->turn == PKB_TURN_WANTED) /* that others take long is not their fault */
            deadline_ns = pkb_clock_now_ns() + (uint64_t)(seconds * 1e9);
        if (session->failure.code != PKB_OK) {
            if (err != NULL)
                *err = session->failure;
            return session->failure.code;
        }
        if (is_reached(session))
            return PKB_OK;
        if (pkb_clock_left_ns(deadline_ns) == 0)
            return pkb_error_set(err, PKB_ERR_TIMEOUT, 0,
                                 "the ranks did not answer for %.0f s (%s %s)", seconds,
                                 session->size, session->step);
        pkb_code rc = pkb_idle_tick(idle, err);
        if (rc != PKB_OK)
            return rc;
        rest(session);
    }
}

static bool is_open(const pkb_session *session)
{
    return session->opened_count == (size_t)session->options.world;
}

static bool has_verdict(const pkb_session *session)
{
    return session->verdict != NULL;
}

pkb_code pkb_session_wait_open(pkb_session *session, const pkb_idle *idle, pkb_error *err)
{
    return wait_for(session, is_open, OPEN_TIMEOUT_S, idle, err);
}

static void add_debugger(cJSON *request, const pkb_session_attempt *attempt)
{
    if (attempt->debugger == NULL)
        return;
    cJSON *debug = cJSON_AddObjectToObject(request, "debug");
    cJSON_AddNumberToObject(debug, "rank", attempt->debug_rank);
    cJSON_AddStringToObject(debug, "program", attempt->debugger);
    cJSON_AddStringToObject(debug, "tool", attempt->debug_tool);
}

static cJSON *attempt_request(const pkb_session *session, const pkb_session_attempt *attempt)
{
    cJSON *request = cJSON_CreateObject();
    cJSON_AddStringToObject(request, "verb", "attempt");
    cJSON_AddStringToObject(request, "id", attempt->id);
    cJSON_AddStringToObject(request, "host", attempt->host);
    if (attempt->device != NULL)
        cJSON_AddStringToObject(request, "device", attempt->device);
    cJSON_AddItemToObject(request, "sizes", cJSON_Duplicate(session->plan->sizes, true));
    cJSON_AddStringToObject(request, "sandbox", pkb_sandbox_level_name(attempt->level));
    cJSON_AddBoolToObject(request, "time", attempt->is_timed);
    cJSON_AddBoolToObject(request, "turns", true);
    add_debugger(request, attempt);
    if (session->options.is_patient)
        cJSON_AddItemToObject(request, "timeouts",
                              pkb_patience_of_plan(session->plan->json, session->options.world,
                                                   session->options.timeout_s));
    return request;
}

/* When even the slowest attempt that keeps to the request's limits has ended. */
static double longest_s(const pkb_session *session, const cJSON *request)
{
    const cJSON *sizes = cJSON_GetObjectItemCaseSensitive(session->plan->json, "sizes");
    const cJSON *timeouts = cJSON_GetObjectItemCaseSensitive(request, "timeouts"), *timeout = NULL;
    double seconds = timeouts == NULL ? cJSON_GetArraySize(sizes) * session->options.timeout_s : 0;

    cJSON_ArrayForEach(timeout, timeouts) seconds += timeout->valuedouble;
    return JUDGE_SLACK_S + seconds * JUDGE_STEPS;
}

pkb_code pkb_session_judge(pkb_session *session, const pkb_session_attempt *attempt,
                           const pkb_idle *idle, cJSON **verdict, pkb_error *err)
{
    cJSON *request = attempt_request(session, attempt);
    const double seconds = longest_s(session, request);
    char *text = pkb_json_line(request);
    pkb_code rc = PKB_OK;

    cJSON_Delete(request);
    if (text == NULL)
        return pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for a request");
    for (size_t i = 0; i < session->judge_count && rc == PKB_OK; i++)
        rc = pkb_message_send(session->judges[i].socket_fd, text, strlen(text), NULL, 0, err);
    cJSON_free(text);
    session->is_judging = true;
    session->oom_kills = pkb_oom_kills();
    session->size[0] = session->step[0] = '\0';
    session->turn = PKB_TURN_NONE;
    if (rc == PKB_OK)
        rc = wait_for(session, has_verdict, seconds, idle, err);
    if (rc == PKB_OK) {
        session->is_judging = false;
        *verdict = session->verdict;
        session->verdict = NULL;
    }
    return rc;
}

bool pkb_session_ran_out(const pkb_session *session)
{
    return session->has_lacked || (session->is_judging && pkb_oom_kills() > session->oom_kills);
}

const char *pkb_session_size(const pkb_session *session)
{
    return session->size;
}

const char *pkb_session_step(const pkb_session *session)
{
    return session->step;
}

bool pkb_session_is_timing(const pkb_session *session)
{
    return session->turn == PKB_TURN_HAD;
}

bool pkb_session_wants_turn(const pkb_session *session)
{
    return session->turn == PKB_TURN_WANTED;
}

pkb_code pkb_session_give_turn(pkb_session *session, pkb_error *err)
{
    static const char request[] = "{\"verb\": \"time\"}";

    session->turn = PKB_TURN_HAD;
    for (size_t i = 0; i < session->judge_count; i++)
        if (session->judges[i].rank == 0)
            return pkb_message_send(session->judges[i].socket_fd, request, sizeof request - 1, NULL,
                                    0, err);
    return pkb_error_set(err, PKB_ERR_CHILD, 0, "rank 0 is gone");
}

/* ---- the end ---- */

static void ask_to_close(pkb_session *session)
{
    static const char request[] = "{\"verb\": \"close\"}";
    for (size_t i = 0; i < session->judge_count; i++)
        if (session->judges[i].socket_fd >= 0)
            pkb_message_send(session->judges[i].socket_fd, request, sizeof request - 1, NULL, 0,
                             NULL);
}

static bool is_alive(int pidfd)
{
    struct pollfd fd = {.fd = pidfd, .events = POLLIN};
    return pidfd >= 0 && poll(&fd, 1, 0) == 0;
}

/* Judges that mpirun left behind see their sockets closed and go; who does not is killed. */
static void end_judges(pkb_session *session)
{
    const uint64_t deadline_ns = pkb_clock_now_ns() + CLOSE_TIMEOUT_S * PKB_NS_PER_S;

    for (size_t i = 0; i < session->judge_count; i++)
        if (session->judges[i].socket_fd >= 0)
            close(session->judges[i].socket_fd);
    for (size_t i = 0; i < session->judge_count; i++) {
        int pidfd = session->judges[i].pidfd;
        while (is_alive(pidfd) && pkb_clock_left_ns(deadline_ns) > 0)
            poll(&(struct pollfd){.fd = pidfd, .events = POLLIN}, 1, PKB_TICK_MS);
        if (is_alive(pidfd))
            syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0);
        if (pidfd >= 0)
            close(pidfd);
    }
}

void pkb_session_close(pkb_session *session)
{
    if (session == NULL)
        return;
    bool is_well = session->failure.code == PKB_OK && is_open(session) && !session->is_judging;
    if (is_well) {
        ask_to_close(session);
        pkb_child_exit how;
        pkb_child_wait(&session->mpirun, CLOSE_TIMEOUT_S * PKB_NS_PER_S, &how, NULL);
    } else if (session->mpirun.pid > 0) {
        /* Told to end, mpirun ends the judges and tidies up; killed, it leaves both to us. */
        kill(session->mpirun.pid, SIGTERM);
    }
    if (session->listener >= 0)
        close(session->listener);
    end_judges(session);
    if (session->mpirun.pid > 0)
        pkb_child_wait(&session->mpirun, PKB_NS_PER_S, &(pkb_child_exit){0}, NULL);
    pkb_child_kill(&session->mpirun);
    pkb_message_free(session->message);
    cJSON_Delete(session->verdict);
    free(session->plan_path);
    free(session->log_path);
    free(session);
}
