/* SPDX-License-Identifier: Apache-2.0
 *
 * The line of a run; see leaderboard.h. Its numbers are those of the score; what identifies it is
 * gathered from the records that count.
 */
#include "evaluator/export/leaderboard.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/fs.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/json_list.h"
#include "evaluator/console/clean.h"
#include "evaluator/console/interrupt.h"
#include "evaluator/score/runset_models.h"
#include "evaluator/score/runset_record.h"
#include "evaluator/score/score_print.h"

enum { LEADERBOARD_SCHEMA = 1, MOST_VALUES = 64 };

static pkb_code no_memory(pkb_error *err)
{
    return pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for the leaderboard");
}

/* ---- what is gathered ---- */

typedef char hex_line[PKB_HASH_HEX_BYTES];

typedef struct gathered {
    cJSON *models, *versions;
    hex_line *hashes; /* of the records' lines */
    size_t count;
} gathered;

static bool add(cJSON *list, const char *text)
{
    return pkb_json_list_add_new(list, text, MOST_VALUES);
}

/* False: no memory. */
static bool gather_versions(cJSON *versions, const cJSON *record)
{
    const cJSON *item = NULL;
    char number[40];
    bool is_kept = true;

    cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(record, "versions"))
    {
        cJSON *list = cJSON_GetObjectItemCaseSensitive(versions, item->string);
        if (!cJSON_IsString(item) && !cJSON_IsNumber(item))
            continue;
        if (list == NULL && cJSON_GetArraySize(versions) < MOST_VALUES)
            list = cJSON_AddArrayToObject(versions, item->string);
        snprintf(number, sizeof number, "%.15g", item->valuedouble);
        if (list != NULL)
            is_kept &= add(list, cJSON_IsString(item) ? item->valuestring : number);
    }
    return is_kept;
}

static pkb_code gather_one(gathered *g, pkb_runset_reader *reader, const pkb_outcome *outcome,
                           pkb_error *err)
{
    cJSON *record = NULL;

    pkb_code rc = pkb_interrupt_check(err);
    if (rc == PKB_OK)
        rc = pkb_runset_reader_line(reader, outcome, err);
    if (rc == PKB_OK)
        rc = pkb_hash_bytes(reader->line, reader->bytes, g->hashes[g->count++], err);
    if (rc == PKB_OK)
        rc = pkb_runset_reader_record(reader, outcome, false, &record, err);
    if (rc == PKB_OK && !gather_versions(g->versions, record))
        rc = no_memory(err);
    cJSON_Delete(record);
    return rc;
}

static pkb_code gather(gathered *g, const pkb_runset *runset, pkb_error *err)
{
    pkb_runset_reader reader = PKB_RUNSET_READER(runset);
    pkb_code rc = PKB_OK;

    g->models = cJSON_CreateArray();
    g->versions = cJSON_CreateObject();
    g->hashes = calloc(runset->count + 1, sizeof *g->hashes);
    if (g->models == NULL || g->versions == NULL || g->hashes == NULL)
        return no_memory(err);
    for (size_t i = 0; i < runset->count && rc == PKB_OK; i++)
        rc = gather_one(g, &reader, &runset->outcomes[i], err);
    if (rc == PKB_OK)
        rc = pkb_runset_models(g->models, runset, err);
    pkb_runset_reader_close(&reader);
    return rc;
}

static void clear(gathered *g)
{
    cJSON_Delete(g->models);
    cJSON_Delete(g->versions);
    free(g->hashes);
}

/* ---- hashes of what was gathered ---- */

static pkb_code add_hash(cJSON *to, pkb_buf *text, pkb_error *err)
{
    hex_line hex;

    pkb_code rc = pkb_buf_check(text, "the records", err);
    if (rc == PKB_OK)
        rc = pkb_hash_bytes(pkb_buf_text(text), text->bytes, hex, err);
    if (rc == PKB_OK)
        cJSON_AddStringToObject(to, "sha256", hex);
    pkb_buf_clear(text);
    return rc;
}

static int compare_hashes(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(hex_line));
}

/* Sorted: however the records were spread over files, the hash is the same. */
static pkb_code add_records(cJSON *to, gathered *g, pkb_error *err)
{
    cJSON *records = cJSON_AddObjectToObject(to, "records");
    pkb_buf text = {0};

    cJSON_AddNumberToObject(records, "count", (double)g->count);
    if (g->count > 0)
        qsort(g->hashes, g->count, sizeof *g->hashes, compare_hashes);
    for (size_t i = 0; i < g->count; i++)
        pkb_buf_printf(&text, "%s\n", g->hashes[i]);
    return add_hash(records, &text, err);
}

static const char *find_definition(const pkb_runset *runset, const pkb_runset_problem *problem)
{
    for (size_t i = 0; i < problem->count; i++)
        if (runset->outcomes[problem->first + i].definition != NULL)
            return runset->outcomes[problem->first + i].definition;
    return NULL;
}

/* Without a hash where the records do not say of all problems what they were. */
static pkb_code add_suite(cJSON *to, const pkb_runset *runset, pkb_error *err)
{
    cJSON *suite = cJSON_AddObjectToObject(to, "suite");
    bool is_known = !runset->has_mixed_definitions;
    pkb_buf text = {0};

    cJSON_AddNumberToObject(suite, "problems", (double)runset->problem_count);
    for (size_t i = 0; i < runset->problem_count; i++) {
        const char *definition = find_definition(runset, &runset->problems[i]);
        is_known &= definition != NULL;
        pkb_buf_printf(&text, "%s %s\n", runset->problems[i].name,
                       definition != NULL ? definition : "");
    }
    if (is_known)
        return add_hash(suite, &text, err);
    pkb_buf_clear(&text);
    return PKB_OK;
}

/* ---- the line ---- */

static void move_numbers(cJSON *to, cJSON *score)
{
    static const char *const keys[] = {
        "complete",   "screened_on_cpu", "planned_by", "distinct_by", "broken_lines",
        "conditions", "mixed",           "bootstrap",  "all",         "verdicts",
        "sizes",      "categories",      "collectives"};

    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        cJSON *item = cJSON_DetachItemFromObjectCaseSensitive(score, keys[i]);
        if (item != NULL)
            cJSON_AddItemToObject(to, keys[i], item);
    }
}

static pkb_code make_line(cJSON **out, const pkb_score *score, gathered *g, pkb_error *err)
{
    cJSON *line = cJSON_CreateObject(), *numbers = NULL;

    pkb_code rc = line == NULL ? no_memory(err) : pkb_score_json(&numbers, score, err);
    if (rc == PKB_OK) {
        cJSON_AddNumberToObject(line, "schema", LEADERBOARD_SCHEMA);
        cJSON_AddStringToObject(line, "name", score->runset->name);
        cJSON_AddItemToObject(line, "models", g->models);
        cJSON_AddItemToObject(line, "versions", g->versions);
        g->models = g->versions = NULL;
        rc = add_suite(line, score->runset, err);
    }
    if (rc == PKB_OK)
        rc = add_records(line, g, err);
    if (rc == PKB_OK) {
        move_numbers(line, numbers);
        rc = pkb_clean_json(line, err);
    }
    cJSON_Delete(numbers);
    if (rc == PKB_OK)
        *out = line;
    else
        cJSON_Delete(line);
    return rc;
}

pkb_code pkb_leaderboard_add(FILE *out, const pkb_score *score, pkb_error *err)
{
    gathered g = {0};
    cJSON *line = NULL;

    pkb_code rc = gather(&g, score->runset, err);
    if (rc == PKB_OK)
        rc = make_line(&line, score, &g, err);
    char *text = rc == PKB_OK ? pkb_json_line(line) : NULL;
    if (rc == PKB_OK && text == NULL)
        rc = no_memory(err);
    if (text != NULL)
        fprintf(out, "%s\n", text);
    cJSON_free(text);
    cJSON_Delete(line);
    clear(&g);
    return rc;
}
