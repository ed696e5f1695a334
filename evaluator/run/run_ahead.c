/* SPDX-License-Identifier: Apache-2.0
 *
 * The coming samples of a run, compiled while earlier ones are judged; see run_state.h. Where there
 * are cores enough, compilers have their own; where not, they stand still while a batch is timed.
 */
#include <sched.h>

#include "evaluator/attempt/evaluation.h"
#include "evaluator/compile/ahead.h"
#include "evaluator/machine/cores.h"
#include "evaluator/run/run_state.h"

/* As many compilers as keep up with quick judging, where there are cores for them. */
enum { MOST_AHEAD = 4, AT_ONCE_APART = 2, AT_ONCE_SHARED = 1 };

/* Reads the sample; the caller clears. */
static pkb_code read_sample(pkb_run *run, size_t job, pkb_evaluation *out)
{
    const pkb_sample *sample = &run->samples.items[job];
    pkb_evaluation evaluation = {
        .setting = run->setting, .file = sample->path, .run = run->name, .sample = sample->number};

    pkb_code rc = pkb_shelf_get(&run->shelf, sample->problem, &evaluation.problem, NULL);
    if (rc == PKB_OK)
        rc = pkb_evaluation_read(&evaluation, NULL);
    *out = evaluation;
    return rc;
}

/* Anything wrong with the sample is said when its turn comes. */
static bool is_wanted(void *context, size_t job)
{
    pkb_run *run = context;
    pkb_evaluation evaluation = {0};

    bool is_wanted = run->refused != run->samples.items[job].problem &&
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

void pkb_run_ahead_tick(pkb_run *run)
{
    if (!run->compiles_apart)
        pkb_ahead_pause(run->ahead, pkb_lanes_are_timing(&run->lanes));
    pkb_ahead_tick(run->ahead);
}

/* Lanes inherit the cores of this process. */
static void part_cores(pkb_run *run)
{
    const int ranks = run->setting->options.world * (int)run->world_count;
    cpu_set_t usable, judging;

    run->compiles_apart = sched_getaffinity(0, sizeof usable, &usable) == 0 &&
                          pkb_cores_part(&usable, ranks, &judging, &run->compiler_cores) &&
                          sched_setaffinity(0, sizeof judging, &judging) == 0;
}

void pkb_run_ahead_start(pkb_run *run)
{
    const pkb_eval_options *options = &run->setting->options;

    if (!options->uses_cache || run->samples.count < 2)
        return;
    part_cores(run);
    const pkb_ahead_options ahead = {.most = MOST_AHEAD,
                                     .at_once =
                                         run->compiles_apart ? AT_ONCE_APART : AT_ONCE_SHARED,
                                     .timeout_ns = (uint64_t)(options->compile_timeout_s * 1e9),
                                     .cores = run->compiles_apart ? &run->compiler_cores : NULL,
                                     .is_wanted = is_wanted,
                                     .build = build,
                                     .context = run};
    if (pkb_ahead_start(&run->ahead, &ahead, NULL) != PKB_OK)
        run->ahead = NULL;
}

void pkb_run_ahead_move(pkb_run *run, size_t begun)
{
    pkb_ahead_move(run->ahead, begun, run->samples.count);
    pkb_run_ahead_tick(run);
}

void pkb_run_ahead_end(pkb_run *run)
{
    pkb_ahead_end(run->ahead);
    run->ahead = NULL;
}
