/* SPDX-License-Identifier: Apache-2.0
 *
 * A worker: requests come as lines on standard input, records go out as lines on standard output,
 * in the order in which they are ready (docs/worker.md).
 */
#ifndef PKB_EVALUATOR_WORKER_H
#define PKB_EVALUATOR_WORKER_H

#include "evaluator/attempt/setting.h"

/* What its records are named after. */
#define PKB_WORKER_RUN "worker"

/* So many requests may wait; then no further one is read until one of them is with a lane. */
enum { PKB_WORKER_QUEUE = 16 };

/* Serves until its input has ended and all is answered. `given` are the options as they were
 * parsed, for requests that ask for other worlds or devices; `setting` has all that is required. */
pkb_code pkb_worker_run(pkb_setting *setting, const pkb_eval_options *given, pkb_error *err);

#endif
