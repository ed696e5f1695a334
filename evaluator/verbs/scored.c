/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs of a command line; see scored.h.
 */
#include "evaluator/verbs/scored.h"

#include <stdio.h>

size_t pkb_scored_step(const pkb_score_options *options)
{
    return options->runset.pools ? options->path_count : 1;
}

pkb_code pkb_scored_read(pkb_scored *out, const pkb_score_options *options,
                         const pkb_catalogue *catalogue, size_t first, pkb_error *err)
{
    pkb_runset *runset = &out->runset;

    *out = (pkb_scored){0};
    pkb_code rc = pkb_runset_read(runset, options->paths + first, pkb_scored_step(options),
                                  &options->runset, catalogue, err);
    for (size_t i = 0; i < runset->note_count && rc == PKB_OK; i++)
        fprintf(stderr, "note: %s\n", runset->notes[i]);
    return rc == PKB_OK ? pkb_score_make(&out->score, runset, catalogue, options->seed, err) : rc;
}

void pkb_scored_clear(pkb_scored *scored)
{
    pkb_score_clear(&scored->score);
    pkb_runset_clear(&scored->runset);
}
