/* SPDX-License-Identifier: Apache-2.0
 *
 * Kinds of records that the options did not ask for: where nothing is left, they say what there is.
 * See runset_state.h.
 */
#include <stdio.h>
#include <stdlib.h>

#include "evaluator/score/runset_state.h"

enum { SHOWN_KINDS = 4, MOST_KINDS = 64 };

pkb_code pkb_runset_count_other(pkb_runset *runset, const pkb_outcome *outcome, pkb_error *err)
{
    const pkb_runset_kind kind = {.run = outcome->conditions[PKB_CONDITION_RUN],
                                  .device = outcome->conditions[PKB_CONDITION_DEVICE],
                                  .world = outcome->conditions[PKB_CONDITION_WORLD],
                                  .count = 1};

    runset->other_count++;
    for (size_t i = 0; i < runset->kind_count; i++) {
        pkb_runset_kind *known = &runset->kinds[i];
        if (known->run != kind.run || known->device != kind.device || known->world != kind.world)
            continue;
        known->count++;
        return PKB_OK;
    }
    if (runset->kind_count == MOST_KINDS)
        return PKB_OK;
    pkb_runset_kind *larger =
        reallocarray(runset->kinds, runset->kind_count + 1, sizeof *runset->kinds);
    if (larger == NULL)
        return pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for the records");
    runset->kinds = larger;
    larger[runset->kind_count++] = kind;
    return PKB_OK;
}

void pkb_runset_list_others(pkb_buf *out, const pkb_runset *runset)
{
    for (size_t i = 0; i < runset->kind_count && i < SHOWN_KINDS; i++) {
        const pkb_runset_kind *kind = &runset->kinds[i];
        pkb_buf_printf(out, "%s%zu with --run %.60s --device %s --world %s", i > 0 ? ", " : "",
                       kind->count, kind->run, kind->device, kind->world);
    }
    if (runset->kind_count > SHOWN_KINDS)
        pkb_buf_printf(out, " and %zu kinds more", runset->kind_count - SHOWN_KINDS);
}
