/* SPDX-License-Identifier: Apache-2.0
 *
 * The life of a judge: its connections and the verbs of the evaluator.
 */
#include "harness/judge/judge.h"

#include <string.h>

#include "base/hash.h"
#include "harness/judge/attempt.h"

pkb_code pkb_judge_open(pkb_judge *judge, pkb_error *err)
{
    const pkb_judge_options *o = &judge->options;
    pkb_code rc = PKB_OK;

    judge->watch.control_fd = judge->watch.runner_fd = -1;
    judge->control.fd = -1;
    for (uint32_t i = 0; i < PKB_MAX_RANKS; i++)
        judge->meeting.fds[i] = -1;
    judge->world.region.fd = -1;
    if ((rc = pkb_watch_install(err)) != PKB_OK ||
        (rc = pkb_control_open(&judge->control, o->work, o->rank, err)) != PKB_OK)
        return rc;
    judge->watch.control_fd = judge->control.fd;
    judge->device = pkb_judge_device_cpu();
    if (strcmp(o->device, "cuda") == 0) {
        rc = pkb_judge_gpus_open(&judge->gpus, &judge->device, o->gpus, o->rank, o->world, err);
        if (rc != PKB_OK)
            return rc;
        judge->options.gpu = judge->gpus->choice.indices[o->rank];
    }
    if ((rc = pkb_random_bytes(&judge->own_random, sizeof judge->own_random, err)) != PKB_OK)
        return rc;
    return pkb_meeting_open(&judge->meeting, &judge->world, o->work, o->rank, o->world,
                            &judge->watch, err);
}

static pkb_code drop_plan(pkb_judge *judge, pkb_error *err)
{
    pkb_code rc = pkb_judge_drop_size(judge, err);
    pkb_plan_free(judge->plan);
    judge->plan = NULL;
    return rc;
}

void pkb_judge_close(pkb_judge *judge)
{
    pkb_runner_free(judge->runner);
    judge->runner = NULL;
    drop_plan(judge, NULL);
    pkb_judge_gpus_close(judge->gpus);
    judge->gpus = NULL;
    pkb_judge_world_clear(&judge->world);
    pkb_meeting_close(&judge->meeting);
    pkb_control_close(&judge->control);
}

/* The choices that all ranks must make alike come from the session's secret. */
static uint64_t seed_of(const char *secret)
{
    uint64_t seed = UINT64_C(0xcbf29ce484222325);
    for (const char *c = secret; *c != '\0'; c++)
        seed = (seed ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
    return seed;
}

static pkb_code serve_open(pkb_judge *judge, const cJSON *request, pkb_error *err)
{
    const char *path = NULL, *secret = NULL;
    pkb_code rc = PKB_OK;

    if ((rc = pkb_json_get_string(request, "plan", &path, err)) != PKB_OK ||
        (rc = pkb_json_get_string(request, "secret", &secret, err)) != PKB_OK)
        return rc;
    if (strlen(secret) != sizeof judge->secret - 1)
        return pkb_error_set(err, PKB_ERR_FORMAT, 0, "the session's secret has not 64 digits");
    memcpy(judge->secret, secret, sizeof judge->secret);
    judge->shared_random = seed_of(secret);
    judge->next_trial = 0; /* with a secret that was used before, the same draws are wanted */
    if ((rc = drop_plan(judge, err)) != PKB_OK ||
        (rc = pkb_plan_read(&judge->plan, path, judge->options.rank, err)) != PKB_OK)
        return rc;
    if (judge->plan->world != judge->options.world || judge->plan->size_count == 0)
        return pkb_error_set(err, PKB_ERR_FORMAT, 0, "the plan %s is for a world of %u", path,
                             judge->plan->world);
    if (judge->runner == NULL) {
        rc = pkb_runner_start(&judge->runner, &judge->options, &judge->watch, err);
        if (rc == PKB_OK)
            judge->watch.runner_fd = pkb_runner_fd(judge->runner);
    }
    /* The first size's draws are made while the attempt is still being compiled. */
    if (rc == PKB_OK)
        rc = pkb_judge_prepare(judge, &judge->plan->sizes[0], err);
    return rc != PKB_OK ? rc : pkb_control_send(&judge->control, pkb_control_event("opened"), err);
}

pkb_code pkb_judge_serve(pkb_judge *judge, pkb_error *err)
{
    pkb_code rc = PKB_OK;
    bool is_closed = false;

    while (rc == PKB_OK && !is_closed) {
        cJSON *request = NULL;
        rc = pkb_control_receive(&judge->control, &judge->watch, &request, err);
        if (rc != PKB_OK)
            return rc;
        const char *verb = pkb_json_string_or(request, "verb", "");
        if (strcmp(verb, "open") == 0)
            rc = serve_open(judge, request, err);
        else if (strcmp(verb, "attempt") == 0)
            rc = judge->plan == NULL
                     ? pkb_error_set(err, PKB_ERR_USAGE, 0, "an attempt came before open")
                     : pkb_attempt_judge(judge, request, err);
        else if (strcmp(verb, "close") == 0)
            is_closed = true;
        else
            rc = pkb_error_set(err, PKB_ERR_USAGE, 0, "the evaluator asked for '%s'", verb);
        cJSON_Delete(request);
    }
    return rc;
}
