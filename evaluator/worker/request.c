/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads requests; see request.h.
 */
#include "evaluator/worker/request.h"

#include <stdint.h>
#include <string.h>

#include "base/json.h"
#include "base/json_number.h"
#include "base/jsonl.h"
#include "evaluator/attempt/options.h"
#include "evaluator/console/clean.h"
#include "evaluator/console/suggest.h"

static const char id_key[] = "request";

static const char *const keys[] = {id_key,   "problem", "source", "file", "world",
                                   "device", "sizes",   "time",   "fresh"};

enum { KEY_COUNT = sizeof keys / sizeof keys[0] };

static pkb_code check_keys(const cJSON *json, pkb_error *err)
{
    const cJSON *item = NULL;
    pkb_buf near = {0};

    cJSON_ArrayForEach(item, json)
    {
        size_t i = 0;
        while (i < KEY_COUNT && strcmp(keys[i], item->string) != 0)
            i++;
        if (i < KEY_COUNT)
            continue;
        pkb_suggest(&near, item->string, keys, KEY_COUNT);
        pkb_error_set(err, PKB_ERR_USAGE, 0, "a request has no key \"%s\"%s", item->string,
                      pkb_buf_text(&near));
        pkb_buf_clear(&near);
        return PKB_ERR_USAGE;
    }
    return PKB_OK;
}

/* A number comes back digit by digit: ids of 64 bits are common. One that stands twice is none. */
static pkb_code read_id(pkb_request *out, const pkb_line *line, pkb_error *err)
{
    const cJSON *id = cJSON_GetObjectItemCaseSensitive(out->json, id_key);
    pkb_code rc = PKB_OK;

    if (!cJSON_IsString(id) && !cJSON_IsNumber(id))
        return pkb_error_set(err, PKB_ERR_USAGE, 0,
                             "a request wants the key \"%s\", a string or a number, by which "
                             "its answer is known",
                             id_key);
    for (const cJSON *item = id->next; item != NULL; item = item->next)
        if (strcmp(item->string, id_key) == 0)
            return pkb_json_check_keys(out->json, "the request", err);
    if (cJSON_IsNumber(id))
        rc = pkb_json_number_keep(out->json, id_key, line->text, line->bytes, err);
    if (rc == PKB_OK)
        out->id = cJSON_GetObjectItemCaseSensitive(out->json, id_key);
    return rc;
}

/* A text that may be absent or null. */
static pkb_code read_text(const char **out, const cJSON *json, const char *key, pkb_error *err)
{
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(json, key);

    if (value == NULL || cJSON_IsNull(value))
        return PKB_OK;
    if (!cJSON_IsString(value))
        return pkb_error_set(err, PKB_ERR_USAGE, 0, "\"%s\" is no text", key);
    *out = value->valuestring;
    return PKB_OK;
}

static pkb_code read_truth(bool *out, bool *is_there, const cJSON *json, const char *key,
                           pkb_error *err)
{
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(json, key);

    *is_there = value != NULL && !cJSON_IsNull(value);
    if (!*is_there)
        return PKB_OK;
    if (!cJSON_IsBool(value))
        return pkb_error_set(err, PKB_ERR_USAGE, 0, "\"%s\" is neither true nor false", key);
    *out = cJSON_IsTrue(value);
    return PKB_OK;
}

static pkb_code read_source(pkb_request *out, pkb_error *err)
{
    pkb_code rc = read_text(&out->source, out->json, "source", err);

    if (rc == PKB_OK)
        rc = read_text(&out->file, out->json, "file", err);
    if (rc == PKB_OK && (out->source == NULL) == (out->file == NULL))
        rc = pkb_error_set(err, PKB_ERR_USAGE, 0, "a request wants \"source\" or \"file\"%s",
                           out->file != NULL ? ", not both" : "");
    return rc;
}

static pkb_code read_world(pkb_request *out, pkb_error *err)
{
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(out->json, "world");
    int64_t world = 0;

    if (value == NULL || cJSON_IsNull(value))
        return PKB_OK;
    if (pkb_json_get_i64(out->json, "world", &world, NULL) != PKB_OK || world < 1 ||
        world > PKB_MAX_WORLD)
        return pkb_error_set(err, PKB_ERR_USAGE, 0, "\"world\" is no number of ranks from 1 to %d",
                             PKB_MAX_WORLD);
    out->world = (int)world;
    return PKB_OK;
}

/* Far less than a message to a world's process may have. */
enum { MOST_SIZES_BYTES = 4096 };

/* "tiny,pkb" or ["tiny", "pkb"]. */
static pkb_code read_sizes(pkb_request *out, pkb_error *err)
{
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(out->json, "sizes"), *name = NULL;
    bool is_fine = true;

    if (value == NULL || cJSON_IsNull(value))
        return PKB_OK;
    if (cJSON_IsString(value)) {
        pkb_buf_append_string(&out->sizes, value->valuestring);
        is_fine = out->sizes.bytes > 0;
    } else {
        is_fine = cJSON_IsArray(value) && cJSON_GetArraySize(value) > 0;
        cJSON_ArrayForEach(name, value)
        {
            is_fine = is_fine && cJSON_IsString(name);
            if (is_fine)
                pkb_buf_printf(&out->sizes, "%s%s", out->sizes.bytes > 0 ? "," : "",
                               name->valuestring);
        }
    }
    if (!is_fine)
        return pkb_error_set(err, PKB_ERR_USAGE, 0,
                             "\"sizes\" are names or classes of sizes, with commas or as a list");
    if (out->sizes.bytes > MOST_SIZES_BYTES)
        return pkb_error_set(err, PKB_ERR_USAGE, 0,
                             "\"sizes\" have %zu bytes, and %d are enough for all of a problem; "
                             "name each once",
                             out->sizes.bytes, MOST_SIZES_BYTES);
    return pkb_buf_check(&out->sizes, "the sizes of a request", err);
}

static pkb_code read_options(pkb_request *out, pkb_error *err)
{
    bool has_fresh = false;
    pkb_code rc = read_text(&out->device, out->json, "device", err);

    if (rc == PKB_OK)
        rc = read_world(out, err);
    if (rc == PKB_OK)
        rc = read_sizes(out, err);
    if (rc == PKB_OK)
        rc = read_truth(&out->is_timed, &out->has_time, out->json, "time", err);
    if (rc == PKB_OK)
        rc = read_truth(&out->is_fresh, &has_fresh, out->json, "fresh", err);
    return rc;
}

pkb_code pkb_request_parse(pkb_request *out, const pkb_catalogue *catalogue, const pkb_line *line,
                           pkb_error *err)
{
    *out = (pkb_request){0};
    pkb_code rc = pkb_jsonl_parse(&out->json, line, PKB_REQUEST_LIMIT_BYTES, err);

    if (rc == PKB_OK && !pkb_clean_is_utf8(line->text, line->bytes)) /* nor could the answer be */
        return pkb_error_set(err, PKB_ERR_FORMAT, 0, "the line is not valid UTF-8");
    if (rc == PKB_OK)
        rc = read_id(out, line, err);
    if (rc == PKB_OK)
        rc = pkb_json_check_keys(out->json, "the request", err);
    if (rc == PKB_OK)
        rc = check_keys(out->json, err);
    if (rc == PKB_OK)
        rc = pkb_catalogue_find_key(catalogue, out->json, &out->problem, err);
    if (rc == PKB_OK)
        rc = read_source(out, err);
    return rc == PKB_OK ? read_options(out, err) : rc;
}

void pkb_request_clear(pkb_request *request)
{
    cJSON_Delete(request->json);
    pkb_buf_clear(&request->sizes);
    *request = (pkb_request){0};
}
