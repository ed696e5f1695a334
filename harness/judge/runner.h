/* SPDX-License-Identifier: Apache-2.0
 *
 * The judge's side of the Python runner (docs/protocol.md, section 3). Whatever goes wrong here is
 * our own error, never the attempt's.
 */
#ifndef PKB_HARNESS_RUNNER_H
#define PKB_HARNESS_RUNNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/json.h"
#include "harness/judge/memory.h"
#include "harness/judge/options.h"
#include "harness/judge/plan.h"
#include "harness/judge/watch.h"

typedef struct pkb_runner pkb_runner;

/* Starts the process; returns before it is ready. The caller frees; `watch` is borrowed. */
pkb_code pkb_runner_start(pkb_runner **out, const pkb_judge_options *options,
                          const pkb_watch *watch, pkb_error *err);
void pkb_runner_free(pkb_runner *runner); /* kills it */
/* Its socket, for the watch. */
int pkb_runner_fd(const pkb_runner *runner);

/* Opens a size in `memory`; collective, since process groups are made. */
pkb_code pkb_runner_open(pkb_runner *runner, const pkb_plan *plan, const pkb_plan_size *size,
                         const pkb_memory *memory, const char *secret, pkb_error *err);
/* What the reference runs on, a JSON object that the caller deletes. */
pkb_code pkb_runner_describe(pkb_runner *runner, cJSON **out, pkb_error *err);
/* Lets go of the size's memory, which is freed only once everybody did. Fine if none is open. */
pkb_code pkb_runner_trim(pkb_runner *runner, pkb_error *err);
pkb_code pkb_runner_release(pkb_runner *runner, pkb_error *err);
/* Draws inputs into an entry and fills memory->draws[entry]. */
pkb_code pkb_runner_draw(pkb_runner *runner, pkb_memory *memory, const pkb_plan_size *size,
                         uint32_t entry, uint64_t trial, uint32_t family, pkb_error *err);
/* Reference and oracle of an entry; collective. */
pkb_code pkb_runner_expect(pkb_runner *runner, uint32_t entry, pkb_error *err);

/* Gets ready to run the reference on these slots; `claim` makes the device switch to the runner;
 * `run` is once from go to done, and tells the stamp of go on the judge's clock (`spin`: waits
 * busily, as for a cell); `end`. */
pkb_code pkb_runner_batch(pkb_runner *runner, const uint32_t *slots, const uint32_t *entries,
                          size_t count, pkb_error *err);
pkb_code pkb_runner_batch_claim(pkb_runner *runner, pkb_error *err);
pkb_code pkb_runner_batch_run(pkb_runner *runner, bool spin, uint64_t *go_ns, pkb_error *err);
pkb_code pkb_runner_batch_end(pkb_runner *runner, pkb_error *err);

#endif
