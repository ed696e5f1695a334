/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of verbs and what all verbs share; see verb.h.
 */
#include "evaluator/verb.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "evaluator/suggest.h"

static const pkb_verb verbs[] = {
    {"doctor", "what this machine has and lacks, and how to get it", pkb_verb_doctor},
    {"problems", "list the problems", pkb_verb_problems},
    {"show", "explain a problem: arguments, sizes, checks, cost", pkb_verb_show},
    {"prompt", "print what a model would be asked", pkb_verb_prompt},
    {"new", "write a skeleton attempt that compiles", pkb_verb_new},
    {"eval", "judge an attempt: is it right, and how fast", pkb_verb_eval},
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

void pkb_verb_parse(const struct argp *argp, int argc, char **argv, void *input)
{
    char name[64];
    char *verb = argv[0];

    snprintf(name, sizeof name, "pkbench %s", verb);
    argv[0] = name;
    argp_parse(argp, argc, argv, 0, NULL, input);
    argv[0] = verb;
}

pkb_code pkb_verb_flush(pkb_error *err)
{
    if (fflush(stdout) != 0 || ferror(stdout))
        return pkb_error_set_errno(err, PKB_ERR_DISK, "cannot write standard output");
    return PKB_OK;
}
