/* SPDX-License-Identifier: Apache-2.0
 *
 * Shares lanes among jobs; see lanes.h.
 */
#include "evaluator/lane/lanes.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "evaluator/lane/job.h"

enum { TRIES = 2 };

/* Ranks have three seconds twice to end, and one more (session.c). */
#define END_NS (9 * PKB_NS_PER_S)

/* Some 13 s in all, in which who started too much has mostly ended. */
#define PAUSE_NS (100 * PKB_NS_PER_MS)

/* A lane looks up every 20 ms, but where it waits for the resolver (30 s), for a compiler to stop
 * (20 s) or for ranks to end. */
#define SILENT_NS (120 * PKB_NS_PER_S)

static pkb_room *room_of(pkb_lanes *lanes, const pkb_setting *setting)
{
    return setting->gpus.count > 0 ? &lanes->gpu_room : &lanes->cpu_room;
}

static bool is_alike(const pkb_setting *a, const pkb_setting *b)
{
    return strcmp(a->options.device, b->options.device) == 0 &&
           a->options.world == b->options.world;
}

pkb_code pkb_lanes_open(pkb_lanes *out, const pkb_room *gpu_room, const pkb_room *cpu_room,
                        pkb_error *err)
{
    pkb_lanes lanes = {.gpu_room = *gpu_room,
                       .cpu_room = *cpu_room,
                       .limits = {.pause_ns = PAUSE_NS, .silent_ns = SILENT_NS}};

    pkb_code rc = pkb_message_create(&lanes.message, err);
    if (rc == PKB_OK)
        *out = lanes;
    return rc;
}

/* ---- lanes come and go ---- */

/* Its GPUs; they must not differ from those that the record will name. */
static pkb_code choose_gpus(pkb_lane *lane, const pkb_room *room, const pkb_setting *setting,
                            pkb_error *err)
{
    const pkb_eval_gpus *named = &setting->gpus;
    pkb_eval_gpus *own = &lane->setting.gpus;
    char list[PKB_GPU_TEXT_BYTES];

    pkb_room_gpus(list, sizeof list, room, lane->places);
    if (named->count == 0 || strcmp(list, named->list) == 0)
        return PKB_OK;
    pkb_code rc = pkb_eval_gpus_choose(own, list, setting->options.world, err);
    if (rc == PKB_OK &&
        (strcmp(own->name, named->name) != 0 || strcmp(own->link, named->link) != 0))
        rc = pkb_error_set(err, PKB_ERR_USAGE, 0,
                           "GPUs %s (%s, %s) and %s (%s, %s) differ, so their times do, too; name "
                           "GPUs with --gpus of which all worlds are alike",
                           named->list, named->name, named->link, own->list, own->name, own->link);
    return rc;
}

/* Where worlds cannot be kept apart, a busy one would slow another that times. */
static void choose_turns(pkb_lane *lane, const pkb_room *room)
{
    pkb_eval_options *options = &lane->setting.options;
    const bool is_alone = room->place_count < 2 * pkb_room_wanted(room, options->world);
    const bool is_apart = room->has_gpus && lane->has_cores;

    if (options->timing == NULL)
        options->timing = is_apart ? "apart" : "turns";
    lane->turn.is_exclusive = strcmp(options->timing, "turns") == 0;
    options->has_neighbours = !is_alone;
}

static pkb_code add_lane(pkb_lanes *lanes, const pkb_setting *setting, uint64_t places,
                         pkb_lane **out, pkb_error *err)
{
    pkb_room *room = room_of(lanes, setting);
    pkb_lane *lane = calloc(1, sizeof *lane);
    cpu_set_t all; /* that this call may use */
    pkb_code rc = PKB_OK;

    if (lane == NULL) {
        pkb_room_leave(room, places);
        return pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for a lane");
    }
    *lane = (pkb_lane){.setting = *setting,
                       .places = places,
                       .limits = lanes->limits,
                       .turn = {.must_rest = lanes->turns.all_rest},
                       .process = PKB_LANE_PROCESS_NONE};
    lane->setting.options.sizes = NULL; /* each job has its own */
    lane->has_cores = sched_getaffinity(0, sizeof all, &all) == 0 &&
                      pkb_room_cores(&lane->cores, &all, room, places, setting->options.world);
    choose_turns(lane, room);
    rc = choose_gpus(lane, room, setting, err);
    if (rc != PKB_OK) {
        pkb_room_leave(room, places);
        free(lane);
        return rc;
    }
    lanes->lanes[lanes->count++] = lane;
    *out = lane;
    return PKB_OK;
}

static void end_lane(pkb_lanes *lanes, size_t place)
{
    pkb_lane *lane = lanes->lanes[place];

    pkb_lane_process_end(&lane->process, pkb_clock_now_ns() + END_NS);
    pkb_room_leave(room_of(lanes, &lane->setting), lane->places);
    free(lane);
    lanes->lanes[place] = lanes->lanes[--lanes->count];
}

void pkb_lanes_close(pkb_lanes *lanes)
{
    for (size_t i = 0; i < lanes->count; i++)
        pkb_lane_process_close(
            &lanes->lanes[i]->process); /* all at once, then one after another is waited for */
    while (lanes->count > 0)
        end_lane(lanes, lanes->count - 1);
    pkb_message_free(lanes->message);
    lanes->message = NULL;
}

void pkb_lanes_end_idle(pkb_lanes *lanes, uint64_t most_ns)
{
    const uint64_t now_ns = pkb_clock_now_ns();

    for (size_t i = lanes->count; i-- > 0;)
        if (pkb_lane_is_idle(lanes->lanes[i]) &&
            now_ns - lanes->lanes[i]->work.idle_since_ns >= most_ns)
            end_lane(lanes, i);
}

/* ---- giving ---- */

/* The idle lane of that room that has been so for longest; `count` = there is none. */
static size_t find_idlest(pkb_lanes *lanes, const pkb_room *room)
{
    size_t found = lanes->count;

    for (size_t i = 0; i < lanes->count; i++)
        if (pkb_lane_is_idle(lanes->lanes[i]) &&
            room_of(lanes, &lanes->lanes[i]->setting) == room &&
            (found == lanes->count ||
             lanes->lanes[i]->work.idle_since_ns < lanes->lanes[found]->work.idle_since_ns))
            found = i;
    return found;
}

/* Places for a new lane, if need be those of idle lanes of other worlds; 0 = none are free. */
static uint64_t make_place(pkb_lanes *lanes, pkb_room *room, int ranks)
{
    const size_t wanted = pkb_room_wanted(room, ranks);
    size_t could_be_free = pkb_room_free(room);

    for (size_t i = 0; i < lanes->count; i++)
        if (pkb_lane_is_idle(lanes->lanes[i]) && room_of(lanes, &lanes->lanes[i]->setting) == room)
            could_be_free += pkb_room_wanted(room, lanes->lanes[i]->setting.options.world);
    if (could_be_free < wanted)
        return 0;
    while (pkb_room_free(room) < wanted)
        end_lane(lanes, find_idlest(lanes, room));
    return pkb_room_take(room, ranks);
}

static pkb_lane *find_ready(const pkb_lanes *lanes, const pkb_setting *setting)
{
    for (size_t i = 0; i < lanes->count; i++)
        if (pkb_lane_is_idle(lanes->lanes[i]) && is_alike(&lanes->lanes[i]->setting, setting))
            return lanes->lanes[i];
    return NULL;
}

bool pkb_lanes_is_ready(const pkb_lanes *lanes, const pkb_setting *setting)
{
    return find_ready(lanes, setting) != NULL;
}

static pkb_code find_lane(pkb_lanes *lanes, const pkb_setting *setting, pkb_lane **out,
                          pkb_error *err)
{
    pkb_room *room = room_of(lanes, setting);
    const int ranks = setting->options.world;

    *out = find_ready(lanes, setting);
    if (*out != NULL)
        return PKB_OK;
    if (pkb_room_wanted(room, ranks) > room->place_count)
        return pkb_error_set(err, PKB_ERR_USAGE, 0,
                             "%d ranks want as many GPUs, and here are %zu; name more with --gpus",
                             ranks, room->place_count);
    const uint64_t places = make_place(lanes, room, ranks);
    return places != 0 ? add_lane(lanes, setting, places, out, err) : PKB_OK;
}

static void tell(const pkb_lanes *lanes, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void tell(const pkb_lanes *lanes, const char *format, ...)
{
    char text[600];
    va_list arguments;

    if (lanes->note == NULL)
        return;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    lanes->note(lanes->context, text);
}

/* Once in a row of failures. */
static void tell_of_failed_start(const pkb_lanes *lanes, const pkb_lane *lane)
{
    if (lane->starts.failures == 1)
        tell(lanes, "%s; it is tried again, %d times at most", lane->starts.why.message,
             PKB_LANE_MOST_STARTS - 1);
}

static size_t place_of(const pkb_lanes *lanes, const pkb_lane *lane)
{
    size_t place = 0;
    while (lanes->lanes[place] != lane)
        place++;
    return place;
}

pkb_code pkb_lanes_give(pkb_lanes *lanes, pkb_evaluation *evaluation, bool *is_given,
                        pkb_error *err)
{
    pkb_lane *lane = NULL;
    pkb_code rc = find_lane(lanes, evaluation->setting, &lane, err);

    *is_given = false;
    if (rc != PKB_OK || lane == NULL)
        return rc;
    rc = pkb_lane_give(lane, evaluation, err);
    *is_given = rc == PKB_OK;
    if (rc == PKB_OK) {
        tell_of_failed_start(lanes, lane);
    } else {
        pkb_lane_finish(lane);
        end_lane(lanes, place_of(lanes, lane));
    }
    return rc;
}

/* ---- taking ---- */

/* What it judges has no verdict then. */
static pkb_code give_up(pkb_lanes *lanes, size_t place, const pkb_error *failure,
                        pkb_lanes_result *out, pkb_error *err)
{
    pkb_lane *lane = lanes->lanes[place];
    pkb_code rc = pkb_evaluation_fail(lane->work.evaluation, failure, err);

    out->evaluation = pkb_lane_finish(lane);
    end_lane(lanes, place);
    return rc;
}

/* The process of a lane is gone, hangs, or talks nonsense. */
static pkb_code replace(pkb_lanes *lanes, size_t place, const pkb_error *why, pkb_lanes_result *out,
                        pkb_error *err)
{
    pkb_lane *lane = lanes->lanes[place];
    pkb_error failure = {0};

    if (pkb_lane_is_idle(lane)) {
        end_lane(lanes, place);
        return PKB_OK;
    }
    if (lane->work.tries < TRIES) {
        tell(lanes, "the process of a world is replaced, and its attempt tried again: %s",
             why->message);
        if (pkb_lane_try_again(lane, &failure) != PKB_OK)
            return give_up(lanes, place, &failure, out, err);
        tell_of_failed_start(lanes, lane);
        return PKB_OK;
    }
    pkb_error_set(&failure, PKB_ERR_CHILD, 0, "the process of a world ended twice (%s)",
                  why->message);
    return give_up(lanes, place, &failure, out, err);
}

static void take_reply(pkb_lanes *lanes, pkb_lane *lane, const pkb_lane_reply *reply,
                       pkb_lanes_result *out)
{
    if (reply->kind == PKB_REPLY_MAY_TIME)
        pkb_turns_ask(&lanes->turns, lane);
    if (reply->kind == PKB_REPLY_TIMED)
        pkb_turns_end(lane);
    if (reply->kind == PKB_REPLY_RESTS)
        lane->turn.rests = true;
    if (reply->kind == PKB_REPLY_MAY_TIME || reply->kind == PKB_REPLY_TIMED ||
        reply->kind == PKB_REPLY_RESTS)
        return;
    if (reply->kind == PKB_REPLY_STEP) {
        if (lanes->tell != NULL)
            lanes->tell(lanes->context, lane->work.evaluation, reply->step, reply->detail);
        return;
    }
    if (!pkb_lane_is_idle(lane))
        lane->work.evaluation->record = reply->record;
    out->evaluation = pkb_lane_finish(lane);
    out->is_refused = reply->kind == PKB_REPLY_REFUSED;
    out->failure = reply->failure;
}

static pkb_code receive(pkb_lanes *lanes, size_t place, pkb_lanes_result *out, pkb_error *err)
{
    pkb_lane *lane = lanes->lanes[place];
    pkb_lane_reply reply = {0};
    pkb_error why = {0};

    pkb_code rc = pkb_message_receive(lane->process.socket_fd, lanes->message, PKB_NS_PER_MS, &why);
    if (rc == PKB_ERR_TIMEOUT)
        return PKB_OK;
    if (rc == PKB_OK)
        rc = pkb_lane_reply_receive(&reply, lanes->message, &why);
    if (rc == PKB_OK && pkb_lane_is_idle(lane)) {
        cJSON_Delete(reply.record);
        rc = pkb_error_set(&why, PKB_ERR_FORMAT, 0, "a lane spoke without being asked");
    }
    if (rc == PKB_ERR_MEMORY) {
        *err = why;
        return rc;
    }
    if (rc != PKB_OK)
        return replace(lanes, place, &why, out, err);
    take_reply(lanes, lane, &reply, out);
    return PKB_OK;
}

/* Whether it hangs, or waits for a process to be started. */
static pkb_code look_after(pkb_lanes *lanes, size_t place, pkb_lanes_result *out, pkb_error *err)
{
    pkb_lane *lane = lanes->lanes[place];
    pkb_error why = {0};

    if (pkb_lane_is_silent(lane)) {
        pkb_error_set(&why, PKB_ERR_TIMEOUT, 0, "it has shown no sign of life for %.0f s",
                      (double)lane->limits.silent_ns / 1e9);
        return replace(lanes, place, &why, out, err);
    }
    if (pkb_lane_tick(lane, &why) != PKB_OK)
        return give_up(lanes, place, &why, out, err);
    return PKB_OK;
}

pkb_code pkb_lanes_take(pkb_lanes *lanes, pkb_lanes_result *out, pkb_error *err)
{
    pkb_code rc = PKB_OK;

    *out = (pkb_lanes_result){0};
    for (size_t i = lanes->count; i-- > 0 && rc == PKB_OK && out->evaluation == NULL;)
        while (rc == PKB_OK && out->evaluation == NULL && i < lanes->count &&
               pkb_socket_is_readable(lanes->lanes[i]->process.socket_fd))
            rc = receive(lanes, i, out, err);
    for (size_t i = lanes->count; i-- > 0 && rc == PKB_OK && out->evaluation == NULL;)
        rc = look_after(lanes, i, out, err);
    pkb_turns_give(&lanes->turns, lanes->lanes, lanes->count);
    return rc;
}

bool pkb_lanes_are_timing(const pkb_lanes *lanes)
{
    return pkb_turns_are_had(lanes->lanes, lanes->count);
}

size_t pkb_lanes_busy(const pkb_lanes *lanes)
{
    size_t count = 0;
    for (size_t i = 0; i < lanes->count; i++)
        count += !pkb_lane_is_idle(lanes->lanes[i]);
    return count;
}

size_t pkb_lanes_poll(const pkb_lanes *lanes, struct pollfd *fds)
{
    for (size_t i = 0; i < lanes->count; i++)
        fds[i] = (struct pollfd){.fd = lanes->lanes[i]->process.socket_fd, .events = POLLIN};
    return lanes->count;
}
