/* SPDX-License-Identifier: Apache-2.0
 *
 * Serves a lane's jobs; see lane_serve.h.
 */
#include "evaluator/lane/lane_serve.h"

#include <poll.h>

#include "base/clock.h"
#include "evaluator/attempt/evaluation.h"
#include "evaluator/attempt/retry.h"
#include "evaluator/console/interrupt.h"
#include "evaluator/lane/job.h"
#include "evaluator/problem/shelf.h"

typedef enum turn { NO_TURN, TURN_ASKED, TURN_GIVEN } turn;
typedef enum rest { NO_REST, REST_ASKED, REST_TAKEN } rest;

typedef struct lane_self {
    int socket_fd;
    pkb_setting *setting;
    const pkb_pulse *pulse;
    pkb_ranks ranks;
    pkb_shelf shelf;
    pkb_message *message;
    turn turn; /* to time something */
    bool was_timing;
    rest rest; /* of its compilers */
} lane_self;

/* A turn that was had is over with what was timed; one that came when nobody wants it any more, as
 * the ranks that asked have died, at once: others wait for it. */
static bool is_turn_over(const lane_self *self)
{
    return self->turn == TURN_GIVEN && !pkb_ranks_are_timing(&self->ranks) &&
           (self->was_timing || !pkb_ranks_want_turn(&self->ranks));
}

/* Without any compiler it rests as it is. */
static bool obey(lane_self *self, bool has_compilers)
{
    const pkb_order order = pkb_order_of(self->message);

    if (order == PKB_ORDER_TIME)
        self->turn = TURN_GIVEN;
    else if (order == PKB_ORDER_REST)
        self->rest = has_compilers ? REST_ASKED : REST_TAKEN;
    else if (order == PKB_ORDER_GO_ON)
        self->rest = NO_REST;
    return order != PKB_ORDER_NONE;
}

/* Says what has changed, and hears orders. Who hears that its compilers must rest stops them before
 * it comes here again. Nobody wants the result any more once the command has closed the socket. */
static pkb_code watch(void *context, pkb_error *err)
{
    lane_self *self = context;
    struct pollfd fd = {.fd = self->socket_fd, .events = POLLIN};

    pkb_pulse_beat(self->pulse);
    if (is_turn_over(self)) {
        self->turn = NO_TURN;
        self->was_timing = false;
        pkb_lane_reply_send_word(self->socket_fd, PKB_REPLY_TIMED, NULL);
    }
    if (self->rest == REST_ASKED) {
        self->rest = REST_TAKEN;
        pkb_lane_reply_send_word(self->socket_fd, PKB_REPLY_RESTS, NULL);
    }
    if (poll(&fd, 1, 0) <= 0)
        return PKB_OK;
    if ((fd.revents & POLLIN) != 0 &&
        pkb_message_receive(self->socket_fd, self->message, PKB_NS_PER_S, NULL) == PKB_OK &&
        obey(self, true))
        return PKB_OK;
    return pkb_error_set(err, PKB_ERR_INTERRUPTED, 0, "the command has closed the lane");
}

static bool may_time(void *context)
{
    lane_self *self = context;

    if (self->turn == NO_TURN) {
        self->turn = TURN_ASKED;
        pkb_lane_reply_send_word(self->socket_fd, PKB_REPLY_MAY_TIME, NULL);
    }
    self->was_timing = self->turn == TURN_GIVEN;
    return self->was_timing;
}

static bool may_compile(void *context)
{
    const lane_self *self = context;
    return self->rest == NO_REST;
}

static void tell(void *context, const char *step, const char *detail)
{
    const lane_self *self = context;
    pkb_lane_reply_send_step(self->socket_fd, step, detail, NULL); /* the next wait sees an end */
}

static pkb_code judge(lane_self *self, const pkb_job *job, pkb_evaluation *evaluation,
                      pkb_error *err)
{
    pkb_code rc = pkb_shelf_get(&self->shelf, job->problem, &evaluation->problem, err);

    if (rc == PKB_OK)
        rc = pkb_evaluation_read(evaluation, err);
    return rc == PKB_OK ? pkb_retry_judge(evaluation, &self->ranks, err) : rc;
}

/* PKB_ERR_INTERRUPTED, or a failure of the socket, ends the lane. */
static pkb_code serve(lane_self *self, const pkb_job *job, pkb_error *err)
{
    pkb_evaluation evaluation = {.setting = self->setting,
                                 .file = job->file,
                                 .source = job->source,
                                 .source_bytes = job->source_bytes,
                                 .run = job->run,
                                 .sample = job->sample};
    pkb_error failure = {0};

    self->setting->options.sizes = job->sizes;
    self->setting->options.is_timed = job->is_timed;
    self->turn = NO_TURN;
    self->was_timing = false;
    pkb_progress_end(&self->setting->progress); /* each attempt begins with its first step */
    pkb_code rc = judge(self, job, &evaluation, &failure);
    if (rc != PKB_OK && rc != PKB_ERR_USAGE)
        pkb_ranks_end(&self->ranks); /* whatever they were at */
    if (rc == PKB_ERR_INTERRUPTED) {
        *err = failure;
    } else if (rc != PKB_OK) {
        const bool is_refused = rc == PKB_ERR_USAGE && !pkb_ranks_fit(&self->ranks, job->problem);
        rc = pkb_lane_reply_send_failure(
            self->socket_fd, is_refused ? PKB_REPLY_REFUSED : PKB_REPLY_FAILED, &failure, err);
    } else {
        rc = pkb_lane_reply_send_record(self->socket_fd, evaluation.record, err);
    }
    pkb_evaluation_clear(&evaluation);
    return rc;
}

/* Waits for a message; false: there will be none. */
static bool receive(lane_self *self)
{
    struct pollfd fd = {.fd = self->socket_fd, .events = POLLIN};

    while (poll(&fd, 1, -1) <= 0)
        if (pkb_interrupt_check(NULL) != PKB_OK)
            return false;
    return pkb_interrupt_check(NULL) == PKB_OK &&
           pkb_message_receive(self->socket_fd, self->message, PKB_NS_PER_S, NULL) == PKB_OK;
}

static bool receive_job(lane_self *self, pkb_job *job)
{
    do {
        if (!receive(self))
            return false;
    } while (obey(self, false)); /* also a turn of an attempt that ended before it came */
    return pkb_job_receive(job, self->message, NULL) == PKB_OK;
}

int pkb_lane_serve(int socket_fd, pkb_setting *setting, const pkb_pulse *pulse)
{
    lane_self self = {.socket_fd = socket_fd,
                      .setting = setting,
                      .pulse = pulse,
                      .shelf = {.catalogue = &setting->catalogue}};
    pkb_error err = {0};
    pkb_job job;

    setting->progress = (pkb_progress){.tell = tell, .context = &self};
    setting->idle = (pkb_idle){.tick = watch, .context = &self};
    setting->may_time = may_time;
    setting->may_compile = may_compile;
    setting->wake_fd = socket_fd;
    pkb_ranks_init(&self.ranks, setting);
    pkb_code rc = pkb_message_create(&self.message, &err);
    while (rc == PKB_OK && receive_job(&self, &job)) {
        rc = serve(&self, &job, &err);
        pkb_job_clear(&job);
    }
    pkb_ranks_end(&self.ranks);
    pkb_shelf_clear(&self.shelf);
    pkb_message_free(self.message);
    return rc == PKB_OK ? 0 : pkb_code_exit_status(rc);
}
