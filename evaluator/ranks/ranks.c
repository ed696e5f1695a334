/* SPDX-License-Identifier: Apache-2.0
 *
 * Keeps a session alive; see ranks.h.
 */
#include "evaluator/ranks/ranks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void pkb_ranks_init(pkb_ranks *ranks, pkb_setting *setting)
{
    *ranks = (pkb_ranks){.setting = setting, .workdir = PKB_WORKDIR_NONE};
}

bool pkb_ranks_want_turn(const pkb_ranks *ranks)
{
    return ranks->is_judging && pkb_session_wants_turn(ranks->session);
}

/* Without anybody to ask, it is always this world's turn. */
static pkb_code give_turn(pkb_ranks *ranks, pkb_error *err)
{
    const pkb_setting *setting = ranks->setting;

    if (!pkb_ranks_want_turn(ranks) ||
        (setting->may_time != NULL && !setting->may_time(setting->idle.context)))
        return PKB_OK;
    return pkb_session_give_turn(ranks->session, err);
}

static pkb_code tick(void *context, pkb_error *err)
{
    pkb_ranks *ranks = context;
    pkb_progress *progress = &ranks->setting->progress;
    char step[96];

    /* a failure of the ranks is kept for when they are waited for */
    if (ranks->session != NULL)
        pkb_session_pump(ranks->session);
    if (ranks->is_judging && pkb_session_size(ranks->session)[0] != '\0') {
        snprintf(step, sizeof step, "judging %s", pkb_session_size(ranks->session));
        pkb_progress_step(progress, step, pkb_session_step(ranks->session));
    }
    pkb_progress_tick(progress);
    pkb_code rc = pkb_idle_tick(&ranks->setting->idle, err);
    return rc == PKB_OK ? give_turn(ranks, err) : rc;
}

pkb_idle pkb_ranks_idle(pkb_ranks *ranks)
{
    return (pkb_idle){.tick = tick, .context = ranks};
}

static pkb_code resolve(pkb_ranks *ranks, const pkb_problem *problem, pkb_error *err)
{
    const pkb_eval_options *options = &ranks->setting->options;
    const pkb_plan_request request = {.problem = problem->full_name,
                                      .world = options->world,
                                      .sizes = options->sizes,
                                      .grid = options->grid,
                                      .device = options->device};
    pkb_plan plan = {0};
    char *sizes = strdup(options->sizes);

    if (sizes == NULL)
        return pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for the plan");
    pkb_code rc = pkb_plan_resolve(&plan, &ranks->setting->tools, &request, err);
    if (rc == PKB_OK)
        rc = pkb_plan_check(&plan, problem, err);
    if (rc != PKB_OK) {
        pkb_plan_clear(&plan);
        free(sizes);
        return rc;
    }
    pkb_plan_clear(&ranks->plan);
    ranks->plan = plan;
    snprintf(ranks->problem, sizeof ranks->problem, "%s", problem->full_name);
    free(ranks->sizes);
    ranks->sizes = sizes;
    return PKB_OK;
}

static pkb_code start(pkb_ranks *ranks, pkb_error *err)
{
    const pkb_setting *setting = ranks->setting;
    const bool has_gpus = setting->gpus.count > 0;

    pkb_code rc = pkb_workdir_open(&ranks->workdir, err);
    if (rc != PKB_OK)
        return rc;
    const pkb_session_options options = {.tools = &setting->tools,
                                         .workdir = &ranks->workdir,
                                         .world = setting->options.world,
                                         .device = setting->options.device,
                                         .gpus = has_gpus ? setting->gpus.list : NULL,
                                         .timeout_s = setting->options.timeout_s,
                                         .wake_fd = setting->wake_fd,
                                         .is_patient = !has_gpus && !setting->options.has_timeout};
    rc = pkb_session_start(&ranks->session, &options, err);
    if (rc != PKB_OK)
        pkb_ranks_end(ranks);
    return rc;
}

bool pkb_ranks_fit(const pkb_ranks *ranks, const char *problem)
{
    return ranks->sizes != NULL && strcmp(ranks->problem, problem) == 0 &&
           strcmp(ranks->sizes, ranks->setting->options.sizes) == 0;
}

pkb_code pkb_ranks_open(pkb_ranks *ranks, const pkb_problem *problem, pkb_error *err)
{
    const bool is_resolved = pkb_ranks_fit(ranks, problem->full_name);
    const bool is_alive = ranks->session != NULL;
    pkb_code rc = PKB_OK;

    /* With a seed all attempts get the draws that they would get alone. */
    if (is_alive && is_resolved && !ranks->setting->options.has_seed)
        return PKB_OK;
    if (is_alive) /* the session has the old plan until it has opened it */
        rc = pkb_ranks_wait(ranks, err);
    if (rc == PKB_OK && !is_resolved)
        rc = resolve(ranks, problem, err);
    if (rc == PKB_OK && !is_alive)
        rc = start(ranks, err);
    if (rc == PKB_OK)
        rc = pkb_setting_secret(ranks->setting, ranks->secret, err);
    return rc == PKB_OK ? pkb_session_open(ranks->session, &ranks->plan, ranks->secret, err) : rc;
}

pkb_code pkb_ranks_wait(pkb_ranks *ranks, pkb_error *err)
{
    const pkb_idle idle = pkb_ranks_idle(ranks);

    pkb_progress_step(&ranks->setting->progress, ranks->is_up ? "drawing inputs" : "starting ranks",
                      NULL);
    pkb_code rc = pkb_session_wait_open(ranks->session, &idle, err);
    ranks->is_up = ranks->is_up || rc == PKB_OK;
    return rc;
}

pkb_code pkb_ranks_judge(pkb_ranks *ranks, const pkb_session_attempt *attempt, cJSON **verdict,
                         pkb_error *err)
{
    const pkb_idle idle = pkb_ranks_idle(ranks);

    ranks->is_judging = true;
    pkb_code rc = pkb_session_judge(ranks->session, attempt, &idle, verdict, err);
    ranks->is_judging = false;
    return rc;
}

bool pkb_ranks_are_timing(const pkb_ranks *ranks)
{
    return ranks->is_judging && pkb_session_is_timing(ranks->session);
}

void pkb_ranks_end(pkb_ranks *ranks)
{
    pkb_session_close(ranks->session);
    pkb_workdir_close(&ranks->workdir);
    pkb_plan_clear(&ranks->plan);
    free(ranks->sizes);
    pkb_ranks_init(ranks, ranks->setting);
}
