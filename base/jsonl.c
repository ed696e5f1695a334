/* SPDX-License-Identifier: Apache-2.0
 *
 * Lines of JSON; see jsonl.h.
 */
#include "base/jsonl.h"

#include <stdbool.h>
#include <string.h>

#include "base/json.h"

/* cJSON would end the text there. */
static bool has_nul(const pkb_line *line)
{
    static const char escape[] = "u0000";

    for (size_t i = 0; i < line->bytes; i++) {
        if (line->text[i] == '\0')
            return true;
        if (line->text[i] != '\\')
            continue;
        i++;
        if (line->bytes - i >= sizeof escape - 1 &&
            memcmp(line->text + i, escape, sizeof escape - 1) == 0)
            return true;
    }
    return false;
}

pkb_code pkb_jsonl_parse(cJSON **out, const pkb_line *line, size_t limit_bytes, pkb_error *err)
{
    cJSON *value = NULL;

    if (line->is_too_long || line->bytes > limit_bytes)
        return pkb_error_set(err, PKB_ERR_FORMAT, 0, "a line may have %zu bytes at most",
                             limit_bytes);
    if (has_nul(line))
        return pkb_error_set(err, PKB_ERR_FORMAT, 0, "a NUL character (\\u0000) is no text");
    const pkb_code rc = pkb_json_parse_any(&value, line->text, line->bytes, "the line", NULL);
    if (rc == PKB_OK && cJSON_IsObject(value)) {
        *out = value;
        return PKB_OK;
    }
    cJSON_Delete(value);
    return pkb_error_set(err, PKB_ERR_FORMAT, 0,
                         rc != PKB_OK && !line->is_whole ? "the file ends in the line's middle"
                                                         : "not one JSON object");
}
