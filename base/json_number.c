/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds the text of a number; see json_number.h. The text was parsed before, so that it is sound:
 * strings end, brackets come in pairs.
 */
#include "base/json_number.h"

#include <stdbool.h>
#include <string.h>

#include "base/buf.h"

/* Of the quote that ends the string which begins at `at`. */
static const char *pass_string(const char *at, const char *end)
{
    for (at++; at < end && *at != '"'; at++)
        at += *at == '\\';
    return at;
}

/* Behind the colon of a member, counted from 0: by its place, since a key may be written in many
 * ways. The end: there is none. */
static const char *find_value(const char *text, const char *end, size_t place)
{
    size_t depth = 0;

    for (const char *at = text; at < end; at++) {
        if (*at == '"')
            at = pass_string(at, end);
        else if (*at == '{' || *at == '[')
            depth++;
        else if (*at == '}' || *at == ']')
            depth--;
        else if (*at == ':' && depth == 1 && place == 0)
            return at + 1;
        else if (*at == ',' && depth == 1)
            place--;
    }
    return end;
}

static void append_number(pkb_buf *out, const char *at, const char *end)
{
    while (at < end && (unsigned char)*at <= ' ')
        at++;
    for (; at < end && *at != '\0' && strchr("+-.0123456789eE", *at) != NULL; at++)
        pkb_buf_append_byte(out, *at);
}

static bool pass_digits(const char **at)
{
    const size_t digits = strspn(*at, "0123456789");
    *at += digits;
    return digits > 0;
}

static bool is_number(const char *at)
{
    at += *at == '-';
    const bool has_zero = *at == '0';
    const char *whole = at;
    bool is_right = pass_digits(&at) && (!has_zero || at == whole + 1);

    if (*at == '.') {
        at++;
        is_right = pass_digits(&at) && is_right;
    }
    if (*at == 'e' || *at == 'E') {
        at++;
        at += *at == '+' || *at == '-';
        is_right = pass_digits(&at) && is_right;
    }
    return is_right && *at == '\0';
}

static pkb_code put(cJSON *object, const char *key, const char *text, pkb_error *err)
{
    cJSON *raw = cJSON_CreateRaw(text);

    if (raw != NULL && cJSON_ReplaceItemInObjectCaseSensitive(object, key, raw))
        return PKB_OK;
    cJSON_Delete(raw);
    return pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for \"%s\"", key);
}

pkb_code pkb_json_number_keep(cJSON *object, const char *key, const char *text, size_t bytes,
                              pkb_error *err)
{
    const cJSON *number = cJSON_GetObjectItemCaseSensitive(object, key);
    const char *end = text + bytes;
    pkb_buf copy = {0};
    size_t place = 0;

    for (const cJSON *item = object->child; item != number; item = item->next)
        place++;
    append_number(&copy, find_value(text, end, place), end);
    pkb_code rc = pkb_buf_check(&copy, "a number", err);
    if (rc == PKB_OK && !is_number(pkb_buf_text(&copy)))
        rc = pkb_error_set(err, PKB_ERR_FORMAT, 0, "\"%s\" is %s, which is no number in JSON", key,
                           pkb_buf_text(&copy));
    if (rc == PKB_OK)
        rc = put(object, key, pkb_buf_text(&copy), err);
    pkb_buf_clear(&copy);
    return rc;
}
