/* SPDX-License-Identifier: Apache-2.0
 *
 * Typed look-ups on cJSON values; see json.h.
 */
#include "base/json.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"

enum { FILE_LIMIT_BYTES = 64 * 1024 * 1024 };

static size_t line_of(const char *text, const char *where)
{
    size_t line = 1;
    for (const char *at = text; at < where; at++)
        line += *at == '\n';
    return line;
}

/* ---- texts ---- */

pkb_code pkb_json_parse_any(cJSON **out, const char *text, size_t bytes, const char *what,
                            pkb_error *err)
{
    const char *end = NULL;
    cJSON *value = cJSON_ParseWithLengthOpts(text, bytes, &end, false);
    if (value == NULL)
        return pkb_error_set(err, PKB_ERR_FORMAT, 0, "%s is not valid JSON (line %zu)", what,
                             end == NULL ? (size_t)1 : line_of(text, end));
    while (end < text + bytes && isspace((unsigned char)*end))
        end++;
    if (end < text + bytes) {
        cJSON_Delete(value);
        return pkb_error_set(err, PKB_ERR_FORMAT, 0, "%s goes on behind its JSON value (line %zu)",
                             what, line_of(text, end));
    }
    *out = value;
    return PKB_OK;
}

static int compare_keys(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Sorted: a line from outside has room for a million keys. */
static pkb_code check_object(const cJSON *object, const char *what, pkb_error *err)
{
    const size_t count = (size_t)cJSON_GetArraySize(object);
    const cJSON *item = NULL;
    const char **keys = NULL;
    size_t filled = 0;
    pkb_code rc = PKB_OK;

    if (count < 2)
        return PKB_OK;
    keys = calloc(count, sizeof *keys);
    if (keys == NULL)
        return pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for the keys of %s", what);
    cJSON_ArrayForEach(item, object) keys[filled++] = item->string;
    qsort(keys, count, sizeof *keys, compare_keys);
    for (size_t i = 1; i < count && rc == PKB_OK; i++)
        if (strcmp(keys[i - 1], keys[i]) == 0)
            rc = pkb_error_set(err, PKB_ERR_FORMAT, 0, "the key \"%.40s\" stands twice in %s",
                               keys[i], what);
    free(keys);
    return rc;
}

pkb_code pkb_json_check_keys(const cJSON *value, const char *what, pkb_error *err)
{
    pkb_code rc = cJSON_IsObject(value) ? check_object(value, what, err) : PKB_OK;
    const cJSON *item = NULL;

    cJSON_ArrayForEach(item, value)
    {
        if (rc == PKB_OK)
            rc = pkb_json_check_keys(item, what, err);
    }
    return rc;
}

pkb_code pkb_json_parse(cJSON **out, const char *text, size_t bytes, const char *what,
                        pkb_error *err)
{
    cJSON *value = NULL;
    pkb_code rc = pkb_json_parse_any(&value, text, bytes, what, err);

    if (rc == PKB_OK)
        rc = pkb_json_check_keys(value, what, err);
    if (rc == PKB_OK)
        *out = value;
    else
        cJSON_Delete(value);
    return rc;
}

pkb_code pkb_json_read(cJSON **out, const char *path, pkb_error *err)
{
    char *text = NULL;
    size_t bytes = 0;
    pkb_code rc = pkb_fs_read(path, FILE_LIMIT_BYTES, &text, &bytes, err);
    if (rc == PKB_OK)
        rc = pkb_json_parse(out, text, bytes, path, err);
    free(text);
    return rc;
}

/* ---- values ---- */

/* The one place that words a missing or mistyped key: NULL and PKB_ERR_FORMAT in `err`. */
static const cJSON *look_up(const cJSON *object, const char *key,
                            cJSON_bool (*is_type)(const cJSON *), const char *type, pkb_error *err)
{
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(object, key);
    if (value == NULL) {
        pkb_error_set(err, PKB_ERR_FORMAT, 0, "the key \"%s\" is missing", key);
        return NULL;
    }
    if (!is_type(value)) {
        pkb_error_set(err, PKB_ERR_FORMAT, 0, "the key \"%s\" is not %s", key, type);
        return NULL;
    }
    return value;
}

pkb_code pkb_json_get_string(const cJSON *object, const char *key, const char **out, pkb_error *err)
{
    const cJSON *value = look_up(object, key, cJSON_IsString, "a string", err);
    if (value == NULL)
        return PKB_ERR_FORMAT;
    *out = value->valuestring;
    return PKB_OK;
}

pkb_code pkb_json_get_object(const cJSON *object, const char *key, const cJSON **out,
                             pkb_error *err)
{
    const cJSON *value = look_up(object, key, cJSON_IsObject, "an object", err);
    if (value == NULL)
        return PKB_ERR_FORMAT;
    *out = value;
    return PKB_OK;
}

pkb_code pkb_json_get_array(const cJSON *object, const char *key, const cJSON **out, pkb_error *err)
{
    const cJSON *value = look_up(object, key, cJSON_IsArray, "a list", err);
    if (value == NULL)
        return PKB_ERR_FORMAT;
    *out = value;
    return PKB_OK;
}

pkb_code pkb_json_get_double(const cJSON *object, const char *key, double *out, pkb_error *err)
{
    const cJSON *value = look_up(object, key, cJSON_IsNumber, "a number", err);
    if (value == NULL)
        return PKB_ERR_FORMAT;
    *out = value->valuedouble;
    return PKB_OK;
}

pkb_code pkb_json_get_i64(const cJSON *object, const char *key, int64_t *out, pkb_error *err)
{
    const double exact_limit = 9007199254740992.0; /* 2^53 */
    double number = 0;
    pkb_code rc = pkb_json_get_double(object, key, &number, err);
    if (rc != PKB_OK)
        return rc;
    if (!(fabs(number) <= exact_limit) || number != floor(number))
        return pkb_error_set(err, PKB_ERR_FORMAT, 0, "the key \"%s\" is not an exact integer", key);
    *out = (int64_t)number;
    return PKB_OK;
}

pkb_code pkb_json_get_u64(const cJSON *object, const char *key, uint64_t *out, pkb_error *err)
{
    int64_t number = 0;
    pkb_code rc = pkb_json_get_i64(object, key, &number, err);
    if (rc != PKB_OK)
        return rc;
    if (number < 0)
        return pkb_error_set(err, PKB_ERR_FORMAT, 0, "the key \"%s\" is negative", key);
    *out = (uint64_t)number;
    return PKB_OK;
}

pkb_code pkb_json_get_bool(const cJSON *object, const char *key, bool *out, pkb_error *err)
{
    const cJSON *value = look_up(object, key, cJSON_IsBool, "true or false", err);
    if (value == NULL)
        return PKB_ERR_FORMAT;
    *out = cJSON_IsTrue(value);
    return PKB_OK;
}

bool pkb_json_has(const cJSON *object, const char *key)
{
    return cJSON_GetObjectItemCaseSensitive(object, key) != NULL;
}

const char *pkb_json_string_or(const cJSON *object, const char *key, const char *fallback)
{
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(object, key);
    return cJSON_IsString(value) ? value->valuestring : fallback;
}

char *pkb_json_line(const cJSON *value)
{
    return cJSON_PrintUnformatted(value);
}
