/* SPDX-License-Identifier: Apache-2.0
 *
 * What can be said of an attempt (docs/design.md, section 8). A verdict is a result, never an
 * error; smaller values are worse, so the worst of several is the smallest.
 */
#ifndef PKB_BASE_VERDICT_H
#define PKB_BASE_VERDICT_H

#include "base/error.h"

typedef enum pkb_verdict {
    PKB_VERDICT_INFRA_ERROR, /* ours or the node's fault: pending */
    /* before anything runs */
    PKB_VERDICT_NO_CODE,
    PKB_VERDICT_TRUNCATED,
    PKB_VERDICT_COMPILE_ERROR,
    PKB_VERDICT_COMPILE_TIMEOUT,
    PKB_VERDICT_ABI_ERROR,
    /* what running shows */
    PKB_VERDICT_TAMPERING,
    PKB_VERDICT_FORBIDDEN_CALL,
    PKB_VERDICT_STATE_REPLAY,
    PKB_VERDICT_TIMING_VIOLATION,
    PKB_VERDICT_OUT_OF_BOUNDS,
    PKB_VERDICT_INPUT_MUTATED,
    PKB_VERDICT_WRONG_OUTPUT,
    PKB_VERDICT_NONDETERMINISTIC,
    PKB_VERDICT_CRASH,
    PKB_VERDICT_TIMEOUT,
    PKB_VERDICT_RESOURCE_LIMIT,
    PKB_VERDICT_IMPLAUSIBLE_TIME,
    PKB_VERDICT_UNSUPPORTED,
    PKB_VERDICT_CORRECT
} pkb_verdict;

enum { PKB_VERDICT_COUNT = PKB_VERDICT_CORRECT + 1 };

/* As in a record: "WRONG_OUTPUT". */
const char *pkb_verdict_name(pkb_verdict verdict);
pkb_code pkb_verdict_parse(const char *name, pkb_verdict *out, pkb_error *err);
pkb_verdict pkb_verdict_worse(pkb_verdict a, pkb_verdict b);

#endif
