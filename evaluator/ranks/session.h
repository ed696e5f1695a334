/* SPDX-License-Identifier: Apache-2.0
 *
 * A session: mpirun with one judge a rank, and the talk with them (docs/protocol.md, section 2).
 * It judges any number of attempts, at one problem after another.
 * Nothing here blocks for long; a caller that does something else meanwhile calls
 * pkb_session_pump now and then.
 */
#ifndef PKB_EVALUATOR_SESSION_H
#define PKB_EVALUATOR_SESSION_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/hash.h"
#include "evaluator/machine/process.h"
#include "evaluator/machine/tool.h"
#include "evaluator/machine/workdir.h"
#include "evaluator/ranks/plan.h"
#include "harness/sandbox/sandbox.h"

typedef struct pkb_session pkb_session;

typedef struct pkb_session_options {
    const pkb_toolbox *tools;
    const pkb_workdir *workdir;
    int world;
    const char *device;
    const char *gpus; /* by rank; NULL = the CPU device */
    double timeout_s; /* of each step of an attempt */
    bool is_patient;  /* longer where a size is large (patience.h) */
    int wake_fd;      /* ends a rest when it can be read; -1 = none */
} pkb_session_options;

typedef struct pkb_session_attempt {
    const char *id, *host, *device;
    pkb_sandbox_level level;
    bool is_timed;
    const char *debugger, *debug_tool; /* around rank debug_rank's cell; NULL = none */
    int debug_rank;
} pkb_session_attempt;

/* Starts mpirun and returns; the ranks come up while the caller goes on. */
pkb_code pkb_session_start(pkb_session **out, const pkb_session_options *options, pkb_error *err);

/* Has the ranks open a problem, now or as soon as they are up, and returns. An earlier one must
 * have been opened (pkb_session_wait_open). `plan` is borrowed until the next one or the end;
 * `secret` are 64 hex digits, from which all inputs are drawn. */
pkb_code pkb_session_open(pkb_session *session, const pkb_plan *plan, const char *secret,
                          pkb_error *err);

/* Takes what the judges have sent, without waiting. Failures are kept for the next wait. */
void pkb_session_pump(pkb_session *session);

/* Waits until all ranks have opened what was asked for. */
pkb_code pkb_session_wait_open(pkb_session *session, const pkb_idle *idle, pkb_error *err);
/* Has the attempt judged; `*verdict` is the event of rank 0, freed by the caller. */
pkb_code pkb_session_judge(pkb_session *session, const pkb_session_attempt *attempt,
                           const pkb_idle *idle, cJSON **verdict, pkb_error *err);
/* Whether what broke the ranks was a lack: memory, files, processes. Of the last attempt. */
bool pkb_session_ran_out(const pkb_session *session);
/* The size that the ranks are at ("" before the first) and what they do with it ("check 2/3"). */
const char *pkb_session_size(const pkb_session *session);
const char *pkb_session_step(const pkb_session *session);

/* Whether the ranks wait for leave to time something; no time passes for them then. */
bool pkb_session_wants_turn(const pkb_session *session);
/* Lets them. They have that turn until pkb_session_is_timing says that it is over. */
pkb_code pkb_session_give_turn(pkb_session *session, pkb_error *err);
bool pkb_session_is_timing(const pkb_session *session);

/* Ends everything that was started, in good order if it goes quickly, and reaps it. */
void pkb_session_close(pkb_session *session);

#endif
