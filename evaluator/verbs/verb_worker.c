/* SPDX-License-Identifier: Apache-2.0
 *
 * pkbench worker: a server of rewards on standard input and output (worker.c).
 */
#include "evaluator/console/interrupt.h"
#include "evaluator/verbs/verb.h"
#include "evaluator/worker/worker.h"

pkb_code pkb_verb_worker(int argc, char **argv, int *status, pkb_error *err)
{
    pkb_setting setting = {0};

    (void)status;
    pkb_worker_options_parse(&setting.options, argc, argv);
    const pkb_eval_options given = setting.options;
    pkb_interrupt_install();
    pkb_code rc = pkb_setting_start(&setting, err);
    if (rc == PKB_OK)
        rc = pkb_setting_find(&setting, err);
    if (rc == PKB_OK)
        rc = pkb_setting_require(&setting, err);
    if (rc == PKB_OK)
        rc = pkb_worker_run(&setting, &given, err);
    pkb_setting_clear(&setting);
    return rc;
}
