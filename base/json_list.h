/* SPDX-License-Identifier: Apache-2.0
 *
 * JSON lists of texts, each of which stands there once.
 */
#ifndef PKB_BASE_JSON_LIST_H
#define PKB_BASE_JSON_LIST_H

#include <cjson/cJSON.h>
#include <stdbool.h>

/* Adds a text that the list does not hold yet, unless it holds `most` already: no honest one is so
 * long. All its items are strings. False: no memory, or no list. */
bool pkb_json_list_add_new(cJSON *list, const char *text, int most);

#endif
