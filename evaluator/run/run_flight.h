/* SPDX-License-Identifier: Apache-2.0
 *
 * The samples that lanes judge, and what becomes of them.
 */
#ifndef PKB_EVALUATOR_RUN_FLIGHT_H
#define PKB_EVALUATOR_RUN_FLIGHT_H

#include "evaluator/run/run_state.h"

/* Gives a sample to an idle lane, and takes it over where `*is_away`. One that is equal to a sample
 * that a lane has is held until that one's record is there. */
pkb_code pkb_run_give(pkb_run *run, pkb_run_flight *flight, bool *is_away, pkb_error *err);
void pkb_run_flight_free(pkb_run_flight *flight);

/* Stores a record, which says how many verdicts it replaces. */
pkb_code pkb_run_store(pkb_run *run, cJSON *record, int64_t revision, pkb_error *err);
/* Tells and counts a record that is stored. */
pkb_code pkb_run_account(pkb_run *run, const pkb_summary_place *place, const cJSON *record,
                         bool is_told, pkb_error *err);
/* For pkb_lanes: shows what is done with the oldest of the samples. */
void pkb_run_show(void *context, const pkb_evaluation *evaluation, const char *step,
                  const char *detail);

#endif
