/* SPDX-License-Identifier: Apache-2.0
 *
 * The verbs of the command: one row each in the table of verb.c, one file verb_NAME.c each.
 */
#ifndef PKB_EVALUATOR_VERB_H
#define PKB_EVALUATOR_VERB_H

#include <stddef.h>

#include "base/error.h"

/* Exit status of `eval` when the attempt has a verdict other than CORRECT. */
enum { PKB_EXIT_NOT_CORRECT = 1 };

/* argv[0] is the verb. Prints its result; `*status` (0 at entry) is the exit status on PKB_OK. */
typedef pkb_code pkb_verb_run(int argc, char **argv, int *status, pkb_error *err);

typedef struct pkb_verb {
    const char *name, *summary;
    pkb_verb_run *run;
} pkb_verb;

/* The table, in the order of `pkbench --help`. */
const pkb_verb *pkb_verb_table(size_t *count);
/* PKB_ERR_USAGE names the nearest verbs. */
pkb_code pkb_verb_find(const char *name, const pkb_verb **out, pkb_error *err);

pkb_verb_run pkb_verb_doctor, pkb_verb_problems, pkb_verb_show, pkb_verb_prompt, pkb_verb_import,
    pkb_verb_new, pkb_verb_eval, pkb_verb_worker, pkb_verb_score, pkb_verb_compare, pkb_verb_report,
    pkb_verb_export, pkb_verb_audit;

#endif
