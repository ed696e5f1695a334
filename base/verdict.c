/* SPDX-License-Identifier: Apache-2.0
 *
 * Names and order of verdicts; see verdict.h.
 */
#include "base/verdict.h"

#include <string.h>

static const char *const names[PKB_VERDICT_COUNT] = {
    [PKB_VERDICT_INFRA_ERROR] = "INFRA_ERROR",
    [PKB_VERDICT_NO_CODE] = "NO_CODE",
    [PKB_VERDICT_TRUNCATED] = "TRUNCATED",
    [PKB_VERDICT_COMPILE_ERROR] = "COMPILE_ERROR",
    [PKB_VERDICT_COMPILE_TIMEOUT] = "COMPILE_TIMEOUT",
    [PKB_VERDICT_ABI_ERROR] = "ABI_ERROR",
    [PKB_VERDICT_TAMPERING] = "TAMPERING",
    [PKB_VERDICT_FORBIDDEN_CALL] = "FORBIDDEN_CALL",
    [PKB_VERDICT_STATE_REPLAY] = "STATE_REPLAY",
    [PKB_VERDICT_TIMING_VIOLATION] = "TIMING_VIOLATION",
    [PKB_VERDICT_OUT_OF_BOUNDS] = "OUT_OF_BOUNDS",
    [PKB_VERDICT_INPUT_MUTATED] = "INPUT_MUTATED",
    [PKB_VERDICT_WRONG_OUTPUT] = "WRONG_OUTPUT",
    [PKB_VERDICT_NONDETERMINISTIC] = "NONDETERMINISTIC",
    [PKB_VERDICT_CRASH] = "CRASH",
    [PKB_VERDICT_TIMEOUT] = "TIMEOUT",
    [PKB_VERDICT_RESOURCE_LIMIT] = "RESOURCE_LIMIT",
    [PKB_VERDICT_IMPLAUSIBLE_TIME] = "IMPLAUSIBLE_TIME",
    [PKB_VERDICT_UNSUPPORTED] = "UNSUPPORTED",
    [PKB_VERDICT_CORRECT] = "CORRECT",
};

const char *pkb_verdict_name(pkb_verdict verdict)
{
    return (unsigned)verdict < PKB_VERDICT_COUNT ? names[verdict] : "INFRA_ERROR";
}

pkb_code pkb_verdict_parse(const char *name, pkb_verdict *out, pkb_error *err)
{
    for (int i = 0; i < PKB_VERDICT_COUNT; i++)
        if (strcmp(names[i], name) == 0) {
            *out = (pkb_verdict)i;
            return PKB_OK;
        }
    return pkb_error_set(err, PKB_ERR_FORMAT, 0, "'%s' is no verdict", name);
}

pkb_verdict pkb_verdict_worse(pkb_verdict a, pkb_verdict b)
{
    return a < b ? a : b;
}
