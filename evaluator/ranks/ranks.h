/* SPDX-License-Identifier: Apache-2.0
 *
 * The ranks of a call: a session that is started when it is first needed, lives from attempt to
 * attempt, and is started again after it was ended.
 */
#ifndef PKB_EVALUATOR_RANKS_H
#define PKB_EVALUATOR_RANKS_H

#include <stdbool.h>

#include "base/hash.h"
#include "evaluator/attempt/setting.h"
#include "evaluator/machine/workdir.h"
#include "evaluator/problem/problem.h"
#include "evaluator/ranks/plan.h"
#include "evaluator/ranks/session.h"

typedef struct pkb_ranks {
    pkb_setting *setting; /* borrowed */
    pkb_workdir workdir;  /* of the session; made and removed with it */
    pkb_session *session; /* NULL = none is alive */
    pkb_plan plan;
    char problem[128]; /* whose plan it is; "" = none */
    char *sizes;       /* that were asked for */
    char secret[PKB_HASH_HEX_BYTES];
    bool is_up;      /* the session has opened something: it is no new one */
    bool is_judging; /* its steps are shown */
} pkb_ranks;

void pkb_ranks_init(pkb_ranks *ranks, pkb_setting *setting);
/* Has the problem opened, in a session that lives or a new one; returns before the ranks have.
 * PKB_ERR_USAGE where the problem cannot be judged with these options. */
pkb_code pkb_ranks_open(pkb_ranks *ranks, const pkb_problem *problem, pkb_error *err);
/* Whether there is a plan for that problem and the present options. */
bool pkb_ranks_fit(const pkb_ranks *ranks, const char *problem);
/* Waits until they have. */
pkb_code pkb_ranks_wait(pkb_ranks *ranks, pkb_error *err);
/* Has an attempt judged that was built for the open problem; `*verdict` is the event of rank 0,
 * freed by the caller. */
pkb_code pkb_ranks_judge(pkb_ranks *ranks, const pkb_session_attempt *attempt, cJSON **verdict,
                         pkb_error *err);
/* Whether they wait for leave to time something. */
bool pkb_ranks_want_turn(const pkb_ranks *ranks);
/* Whether they time something now, so that nothing else should use their cores. */
bool pkb_ranks_are_timing(const pkb_ranks *ranks);
/* For other waits: takes what the judges say and keeps the progress moving. */
pkb_idle pkb_ranks_idle(pkb_ranks *ranks);
/* Ends the session and removes its work directory; what was kept in it is lost. */
void pkb_ranks_end(pkb_ranks *ranks);

#endif
