/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of verbs; see verb.h.
 */
#include "evaluator/verbs/verb.h"

#include <string.h>

#include "base/buf.h"
#include "evaluator/console/suggest.h"

static const pkb_verb verbs[] = {
    {"doctor", "what this machine has and lacks, and how to get it", pkb_verb_doctor},
    {"problems", "list the problems", pkb_verb_problems},
    {"show", "explain a problem: arguments, sizes, checks, cost", pkb_verb_show},
    {"prompt", "print what a model would be asked", pkb_verb_prompt},
    {"import", "make samples of a run from completions of your own inference", pkb_verb_import},
    {"new", "write a skeleton attempt that compiles", pkb_verb_new},
    {"eval", "judge an attempt or a folder of them: is it right, and how fast", pkb_verb_eval},
    {"worker", "judge attempts for a program: requests in, records out", pkb_verb_worker},
    {"score", "pass@k, fast_p@k and speed-ups of runs, with intervals", pkb_verb_score},
    {"compare", "do two runs differ: paired, with intervals and p-values", pkb_verb_compare},
    {"report", "one HTML page about runs, for reading and publishing", pkb_verb_report},
    {"export", "runs as CSV, Parquet or lines for a leaderboard", pkb_verb_export},
    {"audit", "prove the suite itself: inputs, references, tolerances", pkb_verb_audit},
};

const pkb_verb *pkb_verb_table(size_t *count)
{
    *count = sizeof verbs / sizeof verbs[0];
    return verbs;
}

pkb_code pkb_verb_find(const char *name, const pkb_verb **out, pkb_error *err)
{
    enum { COUNT = sizeof verbs / sizeof verbs[0] };
    const char *names[COUNT];

    for (size_t i = 0; i < COUNT; i++) {
        names[i] = verbs[i].name;
        if (strcmp(name, verbs[i].name) == 0) {
            *out = &verbs[i];
            return PKB_OK;
        }
    }
    pkb_buf near = {0};
    pkb_suggest(&near, name, names, COUNT);
    pkb_error_set(err, PKB_ERR_USAGE, 0, "there is no verb '%s' (see pkbench --help)%s", name,
                  pkb_buf_text(&near));
    pkb_buf_clear(&near);
    return PKB_ERR_USAGE;
}
