/* SPDX-License-Identifier: Apache-2.0
 *
 * Requests for which no lane is free yet, compiled meanwhile; see worker_state.h.
 */
#include "evaluator/worker/worker_state.h"

static pkb_worker_job *find_waiting(const pkb_worker *worker, size_t number)
{
    for (size_t i = 0; i < worker->job_count; i++)
        if (worker->jobs[i]->number == number && !worker->jobs[i]->is_away)
            return worker->jobs[i];
    return NULL;
}

static bool is_wanted(void *context, size_t number)
{
    return find_waiting(context, number) != NULL;
}

static void build(void *context, size_t number, const char *directory)
{
    pkb_evaluation_compile_ahead(&find_waiting(context, number)->evaluation, directory, NULL);
}

void pkb_worker_ahead_start(pkb_worker *worker)
{
    const pkb_foresight_source source = {.is_wanted = is_wanted, .build = build, .context = worker};
    const pkb_setting *setting = worker->setting;
    const pkb_room *room =
        setting->gpus.count > 0 ? &worker->lanes.gpu_room : &worker->lanes.cpu_room;
    const int world = setting->options.world;

    pkb_foresight_start(&worker->foresight, setting, world * (int)pkb_room_worlds(room, world),
                        &source);
}

void pkb_worker_ahead_tick(pkb_worker *worker)
{
    size_t begun = worker->next_number;

    for (size_t i = worker->job_count; i-- > 0;)
        if (!worker->jobs[i]->is_away)
            begun = worker->jobs[i]->number; /* they lie in that order */
    pkb_ahead_move(worker->foresight.ahead, begun, worker->next_number);
    pkb_foresight_tick(&worker->foresight, &worker->lanes);
}
