/* SPDX-License-Identifier: Apache-2.0
 *
 * The coming samples of a run, compiled while earlier ones are judged; see run_state.h.
 */
#include "evaluator/attempt/evaluation.h"
#include "evaluator/console/interrupt.h"
#include "evaluator/run/run_state.h"

/* Reads the sample; the caller clears. */
static pkb_code read_sample(pkb_run *run, size_t job, pkb_evaluation *out)
{
    pkb_code rc = pkb_run_evaluation(run, job, out, NULL);
    return rc == PKB_OK ? pkb_evaluation_read(out, NULL) : rc;
}

/* Anything wrong with the sample is said when its turn comes; there will be no turn once it was
 * asked to stop. */
static bool is_wanted(void *context, size_t job)
{
    pkb_run *run = context;
    pkb_evaluation evaluation = {0};

    bool is_wanted = pkb_interrupt_check_asked(NULL) == PKB_OK &&
                     run->refused != run->samples.items[job].problem &&
                     read_sample(run, job, &evaluation) == PKB_OK && !evaluation.attempt.is_blank &&
                     !pkb_run_has_record(run, &evaluation);
    pkb_evaluation_clear(&evaluation);
    return is_wanted;
}

static void build(void *context, size_t job, const char *directory)
{
    pkb_evaluation evaluation = {0};

    if (read_sample(context, job, &evaluation) == PKB_OK)
        pkb_evaluation_compile_ahead(&evaluation, directory, NULL);
    pkb_evaluation_clear(&evaluation);
}

void pkb_run_ahead_start(pkb_run *run)
{
    const pkb_foresight_source source = {.is_wanted = is_wanted, .build = build, .context = run};

    if (run->samples.count > 1)
        pkb_foresight_start(&run->foresight, run->setting,
                            run->setting->options.world * (int)run->world_count, &source);
}

void pkb_run_ahead_move(pkb_run *run, size_t begun)
{
    pkb_ahead_move(run->foresight.ahead, begun, run->samples.count);
    pkb_foresight_tick(&run->foresight, &run->lanes);
}
