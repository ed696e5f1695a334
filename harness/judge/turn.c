/* SPDX-License-Identifier: Apache-2.0
 *
 * Asks for a turn; see turn.h. Rank 0 asks for all, the others meet it when it has it.
 */
#include "harness/judge/turn.h"

#include <string.h>

static pkb_code ask(pkb_judge *judge, pkb_error *err)
{
    cJSON *event = pkb_control_event("may_time"), *answer = NULL;

    cJSON_AddStringToObject(event, "size", judge->size->name);
    pkb_code rc = pkb_control_send(&judge->control, event, err);
    if (rc == PKB_OK)
        rc = pkb_control_receive(&judge->control, &judge->watch, &answer, err);
    if (rc == PKB_OK && strcmp(pkb_json_string_or(answer, "verb", ""), "time") != 0)
        rc = pkb_error_set(err, PKB_ERR_USAGE, 0, "the evaluator asked for '%s', and not to time",
                           pkb_json_string_or(answer, "verb", ""));
    cJSON_Delete(answer);
    return rc;
}

pkb_code pkb_turn_take(pkb_judge *judge, pkb_error *err)
{
    pkb_code rc = judge->options.rank == 0 ? ask(judge, err) : PKB_OK;
    return rc == PKB_OK ? pkb_judge_world_barrier(&judge->world, err) : rc;
}

pkb_code pkb_turn_end(pkb_judge *judge, pkb_error *err)
{
    if (judge->options.rank != 0)
        return PKB_OK;
    return pkb_control_send(&judge->control, pkb_control_event("timed"), err);
}
