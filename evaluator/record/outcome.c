/* SPDX-License-Identifier: Apache-2.0
 *
 * Records as scores see them; see outcome.h.
 */
#include "evaluator/record/outcome.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "evaluator/record/record.h"
#include "evaluator/record/record_line.h"
#include "evaluator/record/speedup.h"

enum { MOST_SIZES = 256 };

static const struct {
    const char *name, *key, *object, *member; /* record[object][member], or record[member] */
} conditions[PKB_CONDITION_COUNT] = {
    [PKB_CONDITION_RUN] = {"runs", "run", NULL, "run"},
    [PKB_CONDITION_DEVICE] = {"devices", "device", NULL, "device"},
    [PKB_CONDITION_WORLD] = {"worlds", "world", NULL, "world"},
    [PKB_CONDITION_PROTOCOL] = {"protocol versions", "protocol", "versions", "protocol"},
    [PKB_CONDITION_MACHINE] = {"machine classes", "machine", "machine", "class"},
    [PKB_CONDITION_SANDBOX] = {"sandbox levels", "sandbox", NULL, "sandbox"},
    [PKB_CONDITION_SIZES] = {"sizes asked", "sizes", "flags", "sizes"},
    [PKB_CONDITION_GRID] = {"grids", "grid", "flags", "grid"},
    [PKB_CONDITION_TIMING] = {"timing on and off", "timing", "flags", "timing"},
    [PKB_CONDITION_TIMEOUT] = {"time limits", "timeout_s", "flags", "timeout_s"},
    [PKB_CONDITION_FEEDBACK] = {"feedback levels", "feedback", "flags", "feedback"},
    [PKB_CONDITION_POLICY] = {"policies", "policy", "flags", "policy"},
};

static const char *const class_names[PKB_SIZE_CLASSES] = {
    [PKB_SIZE_TINY] = "tiny", [PKB_SIZE_PKB] = "pkb", [PKB_SIZE_LARGE] = "large"};

const char *pkb_condition_name(pkb_condition condition)
{
    return conditions[condition].name;
}

const char *pkb_condition_key(pkb_condition condition)
{
    return conditions[condition].key;
}

bool pkb_condition_is_optional(pkb_condition condition)
{
    return condition == PKB_CONDITION_GRID || condition == PKB_CONDITION_FEEDBACK ||
           condition == PKB_CONDITION_POLICY;
}

const char *pkb_size_class_name(pkb_size_class size_class)
{
    return class_names[size_class];
}

bool pkb_outcome_is_judged(const pkb_outcome *outcome)
{
    return outcome->verdict != PKB_VERDICT_INFRA_ERROR &&
           outcome->verdict != PKB_VERDICT_UNSUPPORTED;
}

static pkb_code no_memory(pkb_error *err)
{
    return pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for the records");
}

static pkb_code keep(const char **out, pkb_names *names, const char *text, pkb_error *err)
{
    *out = pkb_names_keep(names, text);
    return *out != NULL ? PKB_OK : no_memory(err);
}

/* ---- lists of sizes, in one order ---- */

static int compare_words(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static pkb_code keep_sorted(const char **out, pkb_names *names, const char **words, size_t count,
                            pkb_error *err)
{
    pkb_buf text = {0};

    qsort(words, count, sizeof *words, compare_words);
    for (size_t i = 0; i < count; i++)
        pkb_buf_printf(&text, "%s%s", i > 0 ? " " : "", words[i]);
    pkb_code rc = pkb_buf_check(&text, "the sizes", err);
    if (rc == PKB_OK)
        rc = keep(out, names, pkb_buf_text(&text), err);
    pkb_buf_clear(&text);
    return rc;
}

/* "pkb,large" asks for the same as "large,pkb". */
static pkb_code keep_list(const char **out, pkb_names *names, const char *text, pkb_error *err)
{
    const char *words[MOST_SIZES];
    char *copy = strdup(text), *rest = NULL;
    size_t count = 0;

    if (copy == NULL)
        return no_memory(err);
    for (char *word = strtok_r(copy, ", ", &rest); word != NULL && count < MOST_SIZES;
         word = strtok_r(NULL, ", ", &rest))
        words[count++] = word;
    pkb_code rc = keep_sorted(out, names, words, count, err);
    free(copy);
    return rc;
}

static pkb_code keep_asked(pkb_outcome *out, pkb_names *names, const cJSON *record, pkb_error *err)
{
    const cJSON *asked = cJSON_GetObjectItemCaseSensitive(record, "sizes_asked"), *size = NULL;
    const char *words[MOST_SIZES];
    size_t count = 0;

    if (asked == NULL)
        return PKB_OK;
    cJSON_ArrayForEach(size, asked)
    {
        if (!cJSON_IsString(size) || count == MOST_SIZES)
            return pkb_error_set(err, PKB_ERR_FORMAT, 0, "\"sizes_asked\" is no list of sizes");
        words[count++] = size->valuestring;
    }
    return keep_sorted(&out->sizes_asked, names, words, count, err);
}

/* ---- conditions ---- */

static pkb_code keep_condition(pkb_outcome *out, pkb_names *names, const cJSON *record,
                               pkb_condition which, pkb_error *err)
{
    const char *object = conditions[which].object;
    const cJSON *parent =
        object != NULL ? cJSON_GetObjectItemCaseSensitive(record, object) : record;
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(parent, conditions[which].member);
    char number[40];

    if (value == NULL)
        return PKB_OK;
    if (which == PKB_CONDITION_SIZES && cJSON_IsString(value))
        return keep_list(&out->conditions[which], names, value->valuestring, err);
    if (cJSON_IsString(value))
        return keep(&out->conditions[which], names, value->valuestring, err);
    if (cJSON_IsBool(value))
        return keep(&out->conditions[which], names, cJSON_IsTrue(value) ? "on" : "off", err);
    snprintf(number, sizeof number, "%.15g", value->valuedouble);
    if (cJSON_IsNumber(value))
        return keep(&out->conditions[which], names, number, err);
    return pkb_error_set(err, PKB_ERR_FORMAT, 0, "the key \"%s\" is neither text nor number",
                         conditions[which].member);
}

/* Numbers of other devices would pass for those of GPUs. */
static pkb_code check_where(const pkb_outcome *outcome, pkb_error *err)
{
    const char *run = outcome->conditions[PKB_CONDITION_RUN];
    const char *device = outcome->conditions[PKB_CONDITION_DEVICE];
    const char *world = outcome->conditions[PKB_CONDITION_WORLD];

    if (run[0] == '\0')
        return pkb_error_set(err, PKB_ERR_FORMAT, 0, "the key \"run\" is empty");
    if (strcmp(device, "cuda") != 0 && strcmp(device, "cpu") != 0)
        return pkb_error_set(err, PKB_ERR_FORMAT, 0, "there is no device \"%.40s\"", device);
    if (world[0] < '1' || world[0] > '9' || world[strspn(world, "0123456789")] != '\0')
        return pkb_error_set(err, PKB_ERR_FORMAT, 0, "\"%.40s\" is no number of ranks", world);
    return PKB_OK;
}

static pkb_code keep_conditions(pkb_outcome *out, pkb_names *names, const cJSON *record,
                                pkb_error *err)
{
    static const pkb_condition needed[] = {PKB_CONDITION_RUN, PKB_CONDITION_DEVICE,
                                           PKB_CONDITION_WORLD};
    pkb_code rc = keep_asked(out, names, record, err);

    for (int i = 0; i < PKB_CONDITION_COUNT && rc == PKB_OK; i++)
        rc = keep_condition(out, names, record, (pkb_condition)i, err);
    for (size_t i = 0; i < sizeof needed / sizeof needed[0] && rc == PKB_OK; i++)
        if (out->conditions[needed[i]] == NULL)
            rc = pkb_error_set(err, PKB_ERR_FORMAT, 0, "the key \"%s\" is missing",
                               conditions[needed[i]].member);
    return rc == PKB_OK ? check_where(out, err) : rc;
}

/* ---- identity ---- */

static bool is_problem_name(const char *name)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
    return strspn(name, "0123456789") == 3 && name[3] == '_' && strlen(name) < 100 &&
           name[strspn(name, plain)] == '\0';
}

static pkb_code read_hash(char out[PKB_HASH_HEX_BYTES], const cJSON *record, const char *key,
                          pkb_error *err)
{
    const char *text = NULL;
    pkb_code rc = pkb_json_get_string(record, key, &text, err);

    if (rc == PKB_OK && strlen(text) >= PKB_HASH_HEX_BYTES)
        rc = pkb_error_set(err, PKB_ERR_FORMAT, 0, "the key \"%s\" is no hash", key);
    if (rc == PKB_OK)
        snprintf(out, PKB_HASH_HEX_BYTES, "%s", text);
    return rc;
}

static pkb_code read_identity(pkb_outcome *out, pkb_names *names, const cJSON *record,
                              pkb_error *err)
{
    const char *problem = NULL, *verdict = NULL;
    const char *definition = pkb_json_string_or(record, "definition", NULL);

    pkb_code rc = pkb_json_get_string(record, "problem", &problem, err);
    if (rc == PKB_OK && !is_problem_name(problem))
        rc = pkb_error_set(err, PKB_ERR_FORMAT, 0, "\"%.40s\" is no name of a problem", problem);
    if (rc == PKB_OK)
        rc = keep(&out->problem, names, problem, err);
    if (rc == PKB_OK && definition != NULL)
        rc = keep(&out->definition, names, definition, err);
    if (rc == PKB_OK)
        rc = pkb_json_get_i64(record, "sample", &out->sample, err);
    if (rc == PKB_OK && out->sample < 0)
        rc = pkb_error_set(err, PKB_ERR_FORMAT, 0, "the key \"sample\" is negative");
    if (rc == PKB_OK)
        rc = pkb_json_get_string(record, "verdict", &verdict, err);
    if (rc == PKB_OK)
        rc = pkb_verdict_parse(verdict, &out->verdict, err);
    if (rc == PKB_OK)
        rc = read_hash(out->judgement, record, "judgement", err);
    if (rc == PKB_OK)
        rc = read_hash(out->sha256, record, "source_sha256", err);
    return rc;
}

/* ---- sizes ---- */

static bool read_log_speedup(double *out, const cJSON *size)
{
    const cJSON *speedup = cJSON_GetObjectItemCaseSensitive(size, "speedup");
    const cJSON *eager = cJSON_GetObjectItemCaseSensitive(speedup, "eager");
    double value = 0;

    if (eager == NULL || pkb_json_get_double(eager, "value", &value, NULL) != PKB_OK ||
        !(value > 0) || isinf(value))
        return false;
    *out = log(value);
    return true;
}

static void count_size(pkb_outcome *out, const cJSON *size, bool is_correct)
{
    const char *name = pkb_json_string_or(size, "class", "");
    double speedup = 0;

    for (int i = 0; i < PKB_SIZE_CLASSES; i++) {
        pkb_outcome_sizes *sizes = &out->sizes[i];
        if (strcmp(name, class_names[i]) != 0)
            continue;
        sizes->judged++;
        sizes->correct += is_correct;
        if (is_correct && read_log_speedup(&speedup, size)) {
            sizes->timed++;
            sizes->log_speedup += speedup;
        }
    }
}

static bool was_judged(const cJSON *sizes, const char *name)
{
    const cJSON *size = NULL;

    cJSON_ArrayForEach(size, sizes)
    {
        if (strcmp(pkb_json_string_or(size, "size", ""), name) == 0)
            return true;
    }
    return false;
}

/* What remains after pkb_record_line_strip is none of ours. */
static pkb_code check_batches(const pkb_record_batches *batches, const cJSON *record,
                              pkb_error *err)
{
    const cJSON *sizes = cJSON_GetObjectItemCaseSensitive(record, "sizes"), *size = NULL;
    int64_t world = 0;

    cJSON_ArrayForEach(size, sizes)
    {
        const cJSON *left = cJSON_GetObjectItemCaseSensitive(size, "batches");
        if (left != NULL && (!cJSON_IsArray(left) || left->child != NULL))
            return pkb_error_set(err, PKB_ERR_FORMAT, 0, "the \"batches\" of a size are none");
    }
    pkb_code rc = pkb_json_get_i64(record, "world", &world, err);
    if (rc != PKB_OK || batches->count + batches->lists == 0)
        return rc;
    if (batches->lists != batches->count)
        return pkb_error_set(err, PKB_ERR_FORMAT, 0, "a batch holds no times of ranks");
    if (world < 1 || batches->fewest != (uint64_t)world || batches->most != (uint64_t)world)
        return pkb_error_set(
            err, PKB_ERR_FORMAT, 0, "a batch holds the times of %zu ranks, and there were %lld",
            batches->fewest != (uint64_t)world ? batches->fewest : batches->most, (long long)world);
    return PKB_OK;
}

/* An attempt is correct if it is right at every size asked: a record that says more than its sizes
 * do is none. */
static pkb_code read_sizes(pkb_outcome *out, const cJSON *record, pkb_error *err)
{
    const cJSON *sizes = cJSON_GetObjectItemCaseSensitive(record, "sizes"), *size = NULL;
    const cJSON *asked = cJSON_GetObjectItemCaseSensitive(record, "sizes_asked");
    const bool says_correct = out->verdict == PKB_VERDICT_CORRECT;

    cJSON_ArrayForEach(size, sizes)
    {
        const char *verdict = pkb_json_string_or(size, "verdict", "");
        const bool is_correct = strcmp(verdict, pkb_verdict_name(PKB_VERDICT_CORRECT)) == 0;
        if (says_correct && !is_correct)
            return pkb_error_set(err, PKB_ERR_FORMAT, 0, "it is CORRECT, but size %.40s is not",
                                 pkb_json_string_or(size, "size", "?"));
        count_size(out, size, is_correct);
    }
    if (says_correct && (sizes == NULL || sizes->child == NULL))
        return pkb_error_set(err, PKB_ERR_FORMAT, 0, "it is CORRECT, but names no size");
    cJSON_ArrayForEach(size, asked)
    {
        if (says_correct && !was_judged(sizes, size->valuestring))
            return pkb_error_set(err, PKB_ERR_FORMAT, 0,
                                 "it is CORRECT, but size %.40s was not judged", size->valuestring);
    }
    return PKB_OK;
}

/* ---- the whole record ---- */

static pkb_code check_schema(const cJSON *record, pkb_error *err)
{
    int64_t schema = 0;

    if (!cJSON_IsObject(record))
        return pkb_error_set(err, PKB_ERR_FORMAT, 0, "it is no JSON object");
    pkb_code rc = pkb_json_check_keys(record, "it", err);
    if (rc == PKB_OK)
        rc = pkb_json_get_i64(record, "schema", &schema, err);
    if (rc == PKB_OK && schema != PKB_RECORD_SCHEMA)
        rc = pkb_error_set(err, PKB_ERR_USAGE, 0,
                           "its schema is %lld, and this version knows %d only: another version "
                           "of pkbench wrote it, which has to score it, too",
                           (long long)schema, PKB_RECORD_SCHEMA);
    return rc;
}

/* What was found to be wrong without timing would not have been timed: such a record goes with
 * either kind. */
static void forget_timing(pkb_outcome *out)
{
    const char *timing = out->conditions[PKB_CONDITION_TIMING];
    if (out->verdict != PKB_VERDICT_CORRECT && timing != NULL && strcmp(timing, "off") == 0)
        out->conditions[PKB_CONDITION_TIMING] = NULL;
}

static pkb_code read_record(pkb_outcome *out, pkb_names *names, const cJSON *record, pkb_error *err)
{
    const cJSON *flags = cJSON_GetObjectItemCaseSensitive(record, "flags");
    pkb_code rc = check_schema(record, err);

    if (rc == PKB_OK)
        rc = read_identity(out, names, record, err);
    if (rc == PKB_OK)
        rc = keep_conditions(out, names, record, err);
    if (rc == PKB_OK)
        rc = read_sizes(out, record, err);
    if (rc != PKB_OK)
        return rc;
    forget_timing(out);
    out->revision = pkb_record_revision(record);
    out->is_debug = pkb_json_has(flags, "debug");
    out->has_speedup = pkb_speedup_of_record(&out->speedup, record);
    return PKB_OK;
}

pkb_code pkb_outcome_parse(pkb_outcome *out, pkb_names *names, char *line, size_t bytes,
                           pkb_error *err)
{
    pkb_outcome outcome = {0};
    pkb_record_batches batches = {0};
    cJSON *record = NULL;

    const size_t left_bytes = pkb_record_line_strip(line, bytes, &batches);
    pkb_code rc = pkb_json_parse_any(&record, line, left_bytes, "the line", err);
    if (rc != PKB_OK)
        return pkb_error_set(err, PKB_ERR_FORMAT, 0, "it is not valid JSON");
    rc = read_record(&outcome, names, record, err);
    if (rc == PKB_OK)
        rc = check_batches(&batches, record, err);
    cJSON_Delete(record);
    if (rc == PKB_OK)
        *out = outcome;
    return rc;
}
