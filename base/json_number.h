/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers as their sender wrote them: what is parsed is a double, which is exact up to 2^53 only.
 */
#ifndef PKB_BASE_JSON_NUMBER_H
#define PKB_BASE_JSON_NUMBER_H

#include <cjson/cJSON.h>
#include <stddef.h>

#include "base/error.h"

/* Puts in the place of a number that is a member of `object` its own text, which then is a raw
 * value (cJSON_IsRaw) and is printed as it stood. `object` was parsed from `text`. PKB_ERR_FORMAT:
 * the parser let something pass that JSON does not take for a number, as 007. */
pkb_code pkb_json_number_keep(cJSON *object, const char *key, const char *text, size_t bytes,
                              pkb_error *err);

#endif
