/* SPDX-License-Identifier: Apache-2.0
 *
 * What a page is made of; see report.h.
 */
#include "evaluator/report/report.h"

#include <stdio.h>
#include <string.h>

#include "base/fs.h"
#include "base/json.h"
#include "evaluator/console/clean.h"
#include "evaluator/report/attempts.h"
#include "evaluator/report/curve.h"
#include "evaluator/report/funnel.h"
#include "evaluator/report/page.h"
#include "evaluator/score/compare.h"
#include "evaluator/score/runset_models.h"
#include "evaluator/score/score_print.h"
#include "evaluator/version.h"

enum { REPORT_SCHEMA = 1 };

/* A run of this name is the hand-written upper bound. */
static const char upper_bound[] = "pk_solutions";

static pkb_code no_memory(pkb_error *err)
{
    return pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for the report");
}

/* ---- a run ---- */

static void tell_no_floors(cJSON *to, pkb_buf *notes, const char *run, const char *why)
{
    cJSON_AddStringToObject(to, "no_floors", why);
    pkb_buf_append_string(notes, "note: no share of the floor is known of ");
    pkb_clean_append(notes, run, strlen(run), SIZE_MAX);
    pkb_buf_printf(notes, ": %s\n", why);
}

static pkb_code add_attempts(cJSON *to, const pkb_report_options *options, const pkb_score *score,
                             pkb_error *err)
{
    pkb_attempts attempts = {0};
    pkb_floors floors = {0};
    pkb_buf text = {0};
    pkb_code rc = PKB_OK;

    if (options->ceilings != NULL)
        rc = pkb_floors_find(&floors, options->tools, options->ceilings, score, options->catalogue,
                             err);
    cJSON_AddBoolToObject(to, "has_floors", floors.json != NULL);
    if (rc == PKB_OK && floors.why.bytes > 0)
        tell_no_floors(to, options->notes, score->runset->name, pkb_buf_text(&floors.why));
    if (rc == PKB_OK)
        rc = pkb_attempts_read(&attempts, score->runset, &floors, options->path,
                               options->embeds_sources, err);
    if (rc == PKB_OK) {
        pkb_attempts_json(&text, &attempts);
        rc = pkb_buf_check(&text, "the report", err);
    }
    if (rc == PKB_OK && cJSON_AddRawToObject(to, "attempts", pkb_buf_text(&text)) == NULL)
        rc = no_memory(err);
    pkb_buf_clear(&text);
    pkb_attempts_clear(&attempts);
    pkb_floors_clear(&floors);
    return rc;
}

static pkb_code add_run(cJSON *runs, const pkb_report_options *options, const pkb_score *score,
                        pkb_error *err)
{
    cJSON *run = cJSON_CreateObject(), *part = NULL;

    cJSON_AddItemToArray(runs, run);
    pkb_code rc = pkb_runset_models(cJSON_AddArrayToObject(run, "models"), score->runset, err);
    if (rc == PKB_OK)
        rc = pkb_score_json(&part, score, err);
    if (rc != PKB_OK)
        return rc;
    cJSON_AddItemToObject(run, "score", part);
    rc = pkb_funnel_json(&part, score, err);
    if (rc != PKB_OK)
        return rc;
    cJSON_AddItemToObject(run, "funnel", part);
    rc = pkb_curve_json(&part, score, err);
    if (rc != PKB_OK)
        return rc;
    if (part != NULL)
        cJSON_AddItemToObject(run, "curve", part);
    return add_attempts(run, options, score, err);
}

/* ---- pairs of runs ---- */

/* Runs that should not be compared are shown all the same, each for itself. */
static pkb_code add_pair(cJSON *pairs, const pkb_score *const *scores, size_t a, size_t b,
                         bool mixes, pkb_error *err)
{
    pkb_compare compare = {0};
    pkb_error why = {0};
    cJSON *pair = cJSON_CreateObject(), *json = NULL;

    cJSON_AddItemToArray(pairs, pair);
    cJSON_AddNumberToObject(pair, "a", (double)a);
    cJSON_AddNumberToObject(pair, "b", (double)b);
    pkb_code rc = pkb_compare_make(&compare, scores[a], scores[b], mixes, &why);
    if (rc == PKB_OK)
        rc = pkb_compare_json(&json, &compare, &why);
    if (rc == PKB_OK)
        cJSON_AddItemToObject(pair, "compare", json);
    else if (rc == PKB_ERR_USAGE)
        cJSON_AddStringToObject(pair, "refused", why.message);
    if (rc != PKB_OK && rc != PKB_ERR_USAGE)
        rc = pkb_error_set(err, rc, 0, "%s", why.message);
    else
        rc = PKB_OK;
    pkb_compare_clear(&compare);
    return rc;
}

/* ---- the whole ---- */

static pkb_code make_json(cJSON *json, const pkb_report_options *options,
                          const pkb_score *const *scores, size_t count, pkb_error *err)
{
    cJSON *runs = NULL, *pairs = NULL, *verdicts = NULL;
    pkb_code rc = PKB_OK;

    cJSON_AddNumberToObject(json, "schema", REPORT_SCHEMA);
    cJSON_AddStringToObject(json, "pkbench", PKB_VERSION);
    verdicts = cJSON_AddArrayToObject(json, "verdicts");
    for (int i = 0; i < PKB_VERDICT_COUNT; i++)
        cJSON_AddItemToArray(verdicts, cJSON_CreateString(pkb_verdict_name((pkb_verdict)i)));
    runs = cJSON_AddArrayToObject(json, "runs");
    for (size_t i = 0; i < count && rc == PKB_OK; i++) {
        rc = add_run(runs, options, scores[i], err);
        if (strcmp(scores[i]->runset->name, upper_bound) == 0)
            cJSON_AddNumberToObject(json, "upper_bound", (double)i);
    }
    pairs = cJSON_AddArrayToObject(json, "pairs");
    for (size_t a = 0; a < count; a++)
        for (size_t b = a + 1; b < count && rc == PKB_OK; b++)
            rc = add_pair(pairs, scores, a, b, options->mixes, err);
    return rc == PKB_OK ? pkb_clean_json(json, err) : rc;
}

pkb_code pkb_report_write(const pkb_report_options *options, const pkb_score *const *scores,
                          size_t count, size_t *bytes, pkb_error *err)
{
    cJSON *json = cJSON_CreateObject();
    char *text = NULL;
    pkb_buf page = {0};

    pkb_code rc = json != NULL ? make_json(json, options, scores, count, err) : no_memory(err);
    if (rc == PKB_OK) {
        text = pkb_json_line(json);
        rc = text != NULL ? pkb_page_make(&page, options->root, text, err) : no_memory(err);
    }
    if (rc == PKB_OK)
        rc = pkb_fs_replace(options->path, pkb_buf_text(&page), page.bytes, err);
    *bytes = page.bytes;
    pkb_buf_clear(&page);
    cJSON_free(text);
    cJSON_Delete(json);
    return rc;
}
