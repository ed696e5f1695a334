/* SPDX-License-Identifier: Apache-2.0
 *
 * Looks attempts up in the records; see known.h.
 */
#include "evaluator/run/known.h"

/* The two questions: judged as this call judges, or with and without timing the other way round. */
typedef struct question {
    pkb_results_query same, other;
} question;

static question ask(const pkb_known *known, const char *other, bool is_timed, uint32_t kept)
{
    const uint32_t wrong = ~PKB_VERDICT_BIT(PKB_VERDICT_CORRECT);
    const uint32_t enough = is_timed ? wrong : PKB_VERDICTS_ALL;
    return (question){
        .same = {.judgement = known->judgement,
                 .old_verdicts = kept,
                 .new_verdicts = PKB_VERDICTS_ALL},
        .other = {.judgement = other, .old_verdicts = kept & enough, .new_verdicts = enough}};
}

static const pkb_results_entry *find(const pkb_results_index *index, question asked, const char *id)
{
    asked.same.id = asked.other.id = id;
    const pkb_results_entry *entry = pkb_results_index_find(index, &asked.same);
    return entry != NULL ? entry : pkb_results_index_find(index, &asked.other);
}

static void look_up(pkb_known *known, const pkb_results_index *index, const question *asked,
                    const char *id, bool is_blank)
{
    const pkb_results_entry *standing = pkb_results_index_standing(index, id);

    if (standing != NULL && (pkb_results_query_accepts(&asked->same, standing) ||
                             pkb_results_query_accepts(&asked->other, standing))) {
        known->kind = PKB_KNOWN_OWN;
        known->entry = standing;
        return;
    }
    known->kind = PKB_KNOWN_OLDER;
    known->entry = find(index, *asked, id);
    if (known->entry == NULL && !is_blank) {
        known->kind = PKB_KNOWN_EQUAL;
        known->entry = find(index, *asked, NULL);
    }
    if (known->entry == NULL)
        known->kind = PKB_KNOWN_NOT;
}

pkb_code pkb_known_find(pkb_known *out, const pkb_results *results, const pkb_rejudge *rejudge,
                        const pkb_evaluation *evaluation, pkb_error *err)
{
    const pkb_record_facts facts = pkb_evaluation_facts(evaluation);
    const bool is_timed = facts.options->is_timed;
    char other[PKB_HASH_HEX_BYTES];
    pkb_buf id = {0};

    *out = (pkb_known){0};
    pkb_record_id(&id, &facts);
    pkb_code rc = pkb_buf_check(&id, "the id of a record", err);
    if (rc == PKB_OK)
        rc = pkb_evaluation_judgement(evaluation, is_timed, out->judgement, err);
    if (rc == PKB_OK)
        rc = pkb_evaluation_judgement(evaluation, !is_timed, other, err);
    if (rc == PKB_OK) {
        const uint32_t kept =
            pkb_rejudge_kept(rejudge, pkb_buf_text(&id), facts.problem, facts.sample);
        const question asked = ask(out, other, is_timed, kept);
        look_up(out, &results->index, &asked, pkb_buf_text(&id), evaluation->attempt.is_blank);
        out->revision = pkb_results_index_revision(&results->index, pkb_buf_text(&id));
    }
    pkb_buf_clear(&id);
    return rc;
}

pkb_code pkb_known_record(cJSON **out, const pkb_known *known, const pkb_results *results,
                          const pkb_evaluation *evaluation, pkb_error *err)
{
    const pkb_record_facts facts = pkb_evaluation_facts(evaluation);
    cJSON *found = NULL;

    pkb_code rc = pkb_results_read(results, known->entry, &found, err);
    if (rc != PKB_OK || known->kind != PKB_KNOWN_EQUAL) {
        *out = found;
        return rc;
    }
    rc = pkb_record_copy(out, found, &facts, err);
    cJSON_Delete(found);
    return rc;
}
