/* SPDX-License-Identifier: Apache-2.0
 *
 * pkbench-judge: the trusted process of one rank. mpirun launches it and nothing more.
 */
#include <stdio.h>
#include <stdlib.h>

#include "harness/judge/judge.h"

int main(int argc, char **argv)
{
    static pkb_judge judge; /* large: it holds a finding and tables a rank */
    pkb_error err = {.code = PKB_OK};
    pkb_code rc = pkb_judge_options_parse(&judge.options, argc, argv, &err);

    if (rc != PKB_OK) {
        fprintf(stderr, "pkbench-judge: %s\n", err.message);
        return pkb_code_exit_status(rc);
    }
    rc = pkb_judge_open(&judge, &err);
    if (rc == PKB_OK)
        rc = pkb_judge_serve(&judge, &err);
    if (rc != PKB_OK && rc != PKB_ERR_INTERRUPTED) {
        fprintf(stderr, "pkbench-judge: rank %u: %s\n", judge.options.rank, err.message);
        pkb_control_complain(&judge.control, &err);
    }
    pkb_judge_close(&judge);
    return pkb_code_exit_status(rc);
}
