/* SPDX-License-Identifier: Apache-2.0
 *
 * A thin layer over cJSON: typed look-ups that say what is missing, so that no caller walks a
 * message by hand. A NULL default argument makes a key required (PKB_ERR_FORMAT names it).
 *
 * Nobody can say which value of a key counts that stands twice in an object, so such a text is none
 * of ours, wherever it comes from.
 */
#ifndef PKB_BASE_JSON_H
#define PKB_BASE_JSON_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* Parses `text`; the caller frees with cJSON_Delete. `what` names it in messages. */
pkb_code pkb_json_parse(cJSON **out, const char *text, size_t bytes, const char *what,
                        pkb_error *err);
/* The same in two steps, for those who have an answer to a text with a key that stands twice. */
pkb_code pkb_json_parse_any(cJSON **out, const char *text, size_t bytes, const char *what,
                            pkb_error *err);
pkb_code pkb_json_check_keys(const cJSON *value, const char *what, pkb_error *err);
pkb_code pkb_json_read(cJSON **out, const char *path, pkb_error *err);

/* Borrowed from `object`, valid as long as it. */
pkb_code pkb_json_get_string(const cJSON *object, const char *key, const char **out,
                             pkb_error *err);
pkb_code pkb_json_get_object(const cJSON *object, const char *key, const cJSON **out,
                             pkb_error *err);
pkb_code pkb_json_get_array(const cJSON *object, const char *key, const cJSON **out,
                            pkb_error *err);
/* Exact integers up to 2^53; anything else is PKB_ERR_FORMAT. */
pkb_code pkb_json_get_i64(const cJSON *object, const char *key, int64_t *out, pkb_error *err);
pkb_code pkb_json_get_u64(const cJSON *object, const char *key, uint64_t *out, pkb_error *err);
pkb_code pkb_json_get_double(const cJSON *object, const char *key, double *out, pkb_error *err);
pkb_code pkb_json_get_bool(const cJSON *object, const char *key, bool *out, pkb_error *err);

/* Is the very key there? (cJSON_HasObjectItem takes "Key" for "key".) */
bool pkb_json_has(const cJSON *object, const char *key);

/* Optional strings: `fallback` when the key is absent or no string. */
const char *pkb_json_string_or(const cJSON *object, const char *key, const char *fallback);

/* One line without white space; caller frees with cJSON_free. NULL when out of memory. */
char *pkb_json_line(const cJSON *value);

#endif
