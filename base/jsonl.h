/* SPDX-License-Identifier: Apache-2.0
 *
 * One JSON object a line, from outside.
 */
#ifndef PKB_BASE_JSONL_H
#define PKB_BASE_JSONL_H

#include <cjson/cJSON.h>
#include <stddef.h>

#include "base/error.h"
#include "base/lines.h"

/* PKB_ERR_FORMAT says what is wrong with the line, without its number: longer than the limit, no
 * object, or a NUL character in it, which would cut a text. Keys may stand in it twice: the caller
 * asks pkb_json_check_keys, and frees with cJSON_Delete. */
pkb_code pkb_jsonl_parse(cJSON **out, const pkb_line *line, size_t limit_bytes, pkb_error *err);

#endif
