/* SPDX-License-Identifier: Apache-2.0
 *
 * Records read again for a page; see attempts.h.
 */
#include "evaluator/report/attempts.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "evaluator/console/clean.h"
#include "evaluator/record/speedup.h"
#include "evaluator/report/files.h"
#include "evaluator/report/link.h"
#include "evaluator/score/runset_record.h"

/* A reason is a sentence. Longer ones are cut, all of them when they are many and long, and nothing
 * of them is left before they alone fill a page. */
enum { REASON_BYTES = 600, SHORT_REASON_BYTES = 100 };
enum { MANY_REASONS_BYTES = 3 << 19, MOST_REASONS_BYTES = 5 << 19 };

static pkb_code no_memory(pkb_error *err)
{
    return pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for the report");
}

/* ---- a row ---- */

/* 0 = none, else its number + 1. */
static pkb_code number_text(size_t *out, pkb_words *words, const pkb_buf *text, pkb_error *err)
{
    pkb_code rc = pkb_buf_check(text, "the report", err);

    *out = 0;
    if (rc != PKB_OK || text->bytes == 0)
        return rc;
    rc = pkb_words_add(words, pkb_buf_text(text), out, err);
    *out += 1;
    return rc;
}

/* As it will stand in the page, where some characters take six bytes. */
static size_t bytes_in_page(const pkb_buf *text)
{
    size_t bytes = text->bytes;

    for (const char *at = pkb_buf_text(text); *at != '\0'; at++)
        bytes += strchr("<>&", *at) != NULL ? 5 : 0;
    return bytes;
}

static pkb_code number_reason(size_t *out, pkb_attempts *attempts, const cJSON *record,
                              pkb_error *err)
{
    const char *reason = pkb_json_string_or(record, "reason", "");
    const size_t bytes = strlen(reason), before = attempts->reasons.count;
    const size_t most = attempts->reason_bytes < MANY_REASONS_BYTES   ? REASON_BYTES
                        : attempts->reason_bytes < MOST_REASONS_BYTES ? SHORT_REASON_BYTES
                                                                      : 0;
    pkb_buf text = {0};

    if (!pkb_clean_append(&text, reason, bytes, most))
        pkb_buf_printf(&text, "\xe2\x80\xa6 (cut here; %zu bytes in the record)", bytes);
    pkb_code rc = number_text(out, &attempts->reasons, &text, err);
    if (attempts->reasons.count > before)
        attempts->reason_bytes += bytes_in_page(&text);
    pkb_buf_clear(&text);
    return rc;
}

static void append_number(pkb_buf *out, const cJSON *object, const char *key)
{
    double value = 0;

    if (object == NULL || pkb_json_get_double(object, key, &value, NULL) != PKB_OK)
        pkb_buf_append_string(out, ",0");
    else
        pkb_buf_printf(out, ",%.4g", value);
}

static pkb_verdict verdict_of(const cJSON *size)
{
    pkb_verdict verdict = PKB_VERDICT_INFRA_ERROR;

    pkb_verdict_parse(pkb_json_string_or(size, "verdict", ""), &verdict, NULL);
    return verdict;
}

/* The part of its time that the attempt cannot but take, at a scored size; 0 = not known. */
static double share_of_floor(const pkb_attempts *attempts, const char *problem, const char *label,
                             const cJSON *size)
{
    const cJSON *times = cJSON_GetObjectItemCaseSensitive(size, "time_us");
    double attempt_us = 0;

    if (!pkb_speedup_is_scored(size) || times == NULL ||
        pkb_json_get_double(times, "attempt", &attempt_us, NULL) != PKB_OK || !(attempt_us > 0))
        return 0;
    return pkb_floors_us(attempts->floors, problem, label) / attempt_us;
}

/* [size, verdict] or, timed, [size, verdict, speed-up, low, high, attempt us, eager us, is
 * unstable, share of the floor]. */
static pkb_code append_size(pkb_buf *out, pkb_attempts *attempts, const char *problem,
                            const cJSON *size, pkb_error *err)
{
    const cJSON *speedup = cJSON_GetObjectItemCaseSensitive(size, "speedup");
    const cJSON *eager = cJSON_GetObjectItemCaseSensitive(speedup, "eager");
    const cJSON *times = cJSON_GetObjectItemCaseSensitive(size, "time_us");
    const char *grid = pkb_json_string_or(size, "grid", "");
    const char *name = pkb_json_string_or(size, "size", "?");
    pkb_buf label = {0};
    size_t number = 0;

    pkb_clean_append(&label, name, strlen(name), REASON_BYTES);
    if (grid[0] != '\0') {
        pkb_buf_append_byte(&label, ' ');
        pkb_clean_append(&label, grid, strlen(grid), REASON_BYTES);
    }
    pkb_code rc = pkb_buf_check(&label, "the report", err);
    if (rc == PKB_OK)
        rc = pkb_words_add(&attempts->sizes, pkb_buf_text(&label), &number, err);
    pkb_buf_printf(out, "[%zu,%d", number, (int)verdict_of(size));
    if (times != NULL || eager != NULL) {
        append_number(out, eager, "value");
        append_number(out, eager, "low");
        append_number(out, eager, "high");
        append_number(out, times, "attempt");
        append_number(out, times, "eager");
        const bool is_unstable = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(eager, "unstable"));
        const double share = share_of_floor(attempts, problem, pkb_buf_text(&label), size);
        if (share > 0)
            pkb_buf_printf(out, ",%d,%.3g", is_unstable, share);
        else if (is_unstable)
            pkb_buf_append_string(out, ",1");
    }
    pkb_buf_append_byte(out, ']');
    pkb_buf_clear(&label);
    return rc;
}

static pkb_code append_sizes(pkb_buf *out, pkb_attempts *attempts, const char *problem,
                             const cJSON *record, pkb_error *err)
{
    const cJSON *sizes = cJSON_GetObjectItemCaseSensitive(record, "sizes"), *size = NULL;
    pkb_code rc = PKB_OK;

    pkb_buf_append_string(out, ",[");
    cJSON_ArrayForEach(size, sizes)
    {
        if (size != sizes->child)
            pkb_buf_append_byte(out, ',');
        if (rc == PKB_OK)
            rc = append_size(out, attempts, problem, size, err);
    }
    pkb_buf_append_byte(out, ']');
    return rc;
}

/* [problem, sample, verdict, reason, speed-up, low, high, sizes, files...]; the reason is a number
 * + 1, 0 = none, and for the files see files.h. */
static pkb_code make_row(pkb_attempts *attempts, size_t problem, size_t index, const cJSON *record,
                         pkb_error *err)
{
    const pkb_outcome *outcome = &attempts->runset->outcomes[index];
    pkb_buf row = {0};
    size_t reason = 0;

    pkb_code rc = number_reason(&reason, attempts, record, err);
    pkb_buf_printf(&row, "[%zu,%lld,%d,%zu", problem, (long long)outcome->sample,
                   (int)outcome->verdict, reason);
    if (outcome->has_speedup)
        pkb_buf_printf(&row, ",%.4g,%.4g,%.4g", outcome->speedup.value, outcome->speedup.low,
                       outcome->speedup.high);
    else
        pkb_buf_append_string(&row, ",0,0,0");
    if (rc == PKB_OK)
        rc = append_sizes(&row, attempts, outcome->problem, record, err);
    if (rc == PKB_OK)
        rc = pkb_attempt_files(&row, attempts, outcome, err);
    pkb_buf_append_byte(&row, ']');
    if (rc == PKB_OK)
        rc = pkb_buf_check(&row, "the report", err);
    if (rc == PKB_OK) {
        free(attempts->rows[index]);
        attempts->rows[index] = pkb_buf_take(&row);
    }
    pkb_buf_clear(&row);
    return rc;
}

/* ---- all of them ---- */

static pkb_code take(pkb_attempts *attempts, pkb_runset_reader *reader, size_t problem,
                     size_t index, pkb_error *err)
{
    cJSON *record = NULL;
    pkb_code rc =
        pkb_runset_reader_record(reader, &attempts->runset->outcomes[index], false, &record, err);

    if (rc == PKB_OK)
        rc = pkb_facts_add(&attempts->facts, record, err);
    if (rc == PKB_OK)
        rc = make_row(attempts, problem, index, record, err);
    cJSON_Delete(record);
    return rc;
}

static pkb_code find_bases(pkb_attempts *attempts, const char *page, pkb_error *err)
{
    const pkb_runset *runset = attempts->runset;
    pkb_code rc = PKB_OK;

    attempts->bases = calloc(runset->folder_count + 1, sizeof *attempts->bases);
    if (attempts->bases == NULL)
        return no_memory(err);
    for (size_t i = 0; i < runset->folder_count && rc == PKB_OK; i++) {
        pkb_buf base = {0};
        rc = pkb_link_base(&base, page, runset->folders[i].path, err);
        if (rc == PKB_OK)
            rc = pkb_buf_check(&base, "the report", err);
        if (rc == PKB_OK)
            attempts->bases[i] = pkb_buf_take(&base);
        pkb_buf_clear(&base);
    }
    return rc;
}

pkb_code pkb_attempts_read(pkb_attempts *out, const pkb_runset *runset, const pkb_floors *floors,
                           const char *page, bool embeds_sources, pkb_error *err)
{
    pkb_runset_reader reader = PKB_RUNSET_READER(runset);
    pkb_code rc = PKB_OK;

    *out = (pkb_attempts){.runset = runset, .floors = floors, .embeds_sources = embeds_sources};
    out->rows = calloc(runset->count + 1, sizeof *out->rows);
    rc = out->rows != NULL ? find_bases(out, page, err) : no_memory(err);
    for (size_t i = 0; i < runset->problem_count; i++)
        for (size_t k = 0; k < runset->problems[i].count && rc == PKB_OK; k++)
            rc = take(out, &reader, i, runset->problems[i].first + k, err);
    pkb_runset_reader_close(&reader);
    return rc;
}

/* ---- the whole ---- */

static void append_list(pkb_buf *out, const char *key, const pkb_words *words)
{
    pkb_buf_printf(out, ",\"%s\":", key);
    pkb_words_json(out, words);
}

void pkb_attempts_json(pkb_buf *out, const pkb_attempts *attempts)
{
    pkb_buf_append_string(out, "{\"rows\":[");
    for (size_t i = 0; i < attempts->runset->count; i++) {
        pkb_buf_append_string(out, i > 0 ? "," : "");
        pkb_buf_append_string(out, attempts->rows[i]);
    }
    pkb_buf_append_byte(out, ']');
    append_list(out, "reasons", &attempts->reasons);
    append_list(out, "paths", &attempts->paths);
    append_list(out, "sizes", &attempts->sizes);
    append_list(out, "sources", &attempts->sources);
    pkb_buf_printf(out, ",\"changed_sources\":%zu,\"facts\":", attempts->changed_count);
    pkb_facts_json(out, &attempts->facts);
    pkb_buf_append_byte(out, '}');
}

void pkb_attempts_clear(pkb_attempts *attempts)
{
    for (size_t i = 0; attempts->rows != NULL && i < attempts->runset->count; i++)
        free(attempts->rows[i]);
    free(attempts->rows);
    for (size_t i = 0; attempts->bases != NULL && i < attempts->runset->folder_count; i++)
        free(attempts->bases[i]);
    free(attempts->bases);
    pkb_words_clear(&attempts->reasons);
    pkb_words_clear(&attempts->paths);
    pkb_words_clear(&attempts->sizes);
    pkb_words_clear(&attempts->sources);
    pkb_facts_clear(&attempts->facts);
    *attempts = (pkb_attempts){0};
}
