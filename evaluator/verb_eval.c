/* SPDX-License-Identifier: Apache-2.0
 *
 * pkbench eval: from options to a record. The judgement itself is in evaluation.c.
 */
#include <cjson/cJSON.h>
#include <stdio.h>

#include "base/json.h"
#include "evaluator/evaluation.h"
#include "evaluator/interrupt.h"
#include "evaluator/result.h"
#include "evaluator/verb.h"

static pkb_code print_record(const pkb_evaluation *evaluation, pkb_error *err)
{
    if (evaluation->options.wants_json) {
        char *text = pkb_json_line(evaluation->record);
        if (text == NULL)
            return pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for the record");
        puts(text);
        cJSON_free(text);
        return pkb_verb_flush(err);
    }
    const pkb_result_notes notes = {.was_cached = evaluation->was_cached,
                                    .printed = pkb_buf_text(&evaluation->printed),
                                    .printed_rank = evaluation->printed_rank};
    pkb_result_print(stderr, evaluation->record, &notes);
    return PKB_OK;
}

static int status_of(pkb_verdict verdict)
{
    if (verdict == PKB_VERDICT_INFRA_ERROR)
        return pkb_code_exit_status(PKB_ERR_CHILD);
    return verdict == PKB_VERDICT_CORRECT ? 0 : PKB_EXIT_NOT_CORRECT;
}

pkb_code pkb_verb_eval(int argc, char **argv, int *status, pkb_error *err)
{
    pkb_evaluation evaluation = {0};
    pkb_verdict verdict = PKB_VERDICT_INFRA_ERROR;

    pkb_eval_options_parse(&evaluation.options, argc, argv);
    pkb_interrupt_install();
    pkb_code rc = pkb_evaluation_prepare(&evaluation, err);
    if (rc == PKB_OK)
        rc = pkb_evaluation_run(&evaluation, err);
    if (rc == PKB_OK)
        rc = print_record(&evaluation, err);
    if (rc == PKB_OK && evaluation.options.output != NULL)
        rc = pkb_record_append(evaluation.record, evaluation.options.output, err);
    if (rc == PKB_OK)
        rc = pkb_record_verdict(evaluation.record, &verdict, err);
    if (rc == PKB_OK)
        *status = status_of(verdict);
    pkb_evaluation_clear(&evaluation);
    return rc;
}
