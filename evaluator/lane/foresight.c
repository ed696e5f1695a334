/* SPDX-License-Identifier: Apache-2.0
 *
 * Compiling ahead of lanes; see foresight.h.
 */
#include "evaluator/lane/foresight.h"

#include "evaluator/machine/cores.h"

/* Two compilers keep up with quick judging, and one that takes long does not hold up all others. */
enum { MOST_AHEAD = 4, AT_ONCE = 2 };

void pkb_foresight_start(pkb_foresight *out, const pkb_setting *setting, int ranks,
                         const pkb_foresight_source *source)
{
    const pkb_eval_options *options = &setting->options;
    cpu_set_t usable, judging;

    *out = (pkb_foresight){0};
    if (!options->uses_cache)
        return;
    out->is_apart = sched_getaffinity(0, sizeof usable, &usable) == 0 &&
                    pkb_cores_part(&usable, ranks, &judging, &out->cores) &&
                    sched_setaffinity(0, sizeof judging, &judging) == 0;
    const pkb_ahead_options ahead = {.most = MOST_AHEAD,
                                     .at_once = AT_ONCE,
                                     .timeout_ns = (uint64_t)(options->compile_timeout_s * 1e9),
                                     .cores = out->is_apart ? &out->cores : NULL,
                                     .is_wanted = source->is_wanted,
                                     .build = source->build,
                                     .context = source->context};
    if (pkb_ahead_start(&out->ahead, &ahead, NULL) != PKB_OK)
        out->ahead = NULL;
}

void pkb_foresight_tick(pkb_foresight *foresight, const pkb_lanes *lanes)
{
    if (!foresight->is_apart)
        pkb_ahead_pause(foresight->ahead, pkb_lanes_are_timing(lanes));
    pkb_ahead_tick(foresight->ahead);
}

void pkb_foresight_pause(void *context)
{
    const pkb_foresight *foresight = context;

    if (!foresight->is_apart)
        pkb_ahead_pause(foresight->ahead, true);
}

void pkb_foresight_end(pkb_foresight *foresight)
{
    pkb_ahead_end(foresight->ahead);
    foresight->ahead = NULL;
}
