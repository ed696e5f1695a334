/* SPDX-License-Identifier: Apache-2.0
 *
 * Cleans text; see clean.h.
 */
#include "evaluator/console/clean.h"

#include <stdint.h>
#include <string.h>

enum { MOST_CHARACTER_BYTES = 4 };

/* The length of the UTF-8 character at `at` and what it is; 0 = none (RFC 3629: no surrogates, no
 * longer form than needed). */
static size_t decode(const unsigned char *at, size_t bytes, uint32_t *code)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const size_t length = at[0] < 0x80                     ? 1
                          : at[0] >= 0xc2 && at[0] <= 0xdf ? 2
                          : (at[0] & 0xf0) == 0xe0         ? 3
                          : at[0] >= 0xf0 && at[0] <= 0xf4 ? 4
                                                           : 0;
    if (length == 0 || length > bytes)
        return 0;
    *code = length == 1 ? at[0] : at[0] & (0xffU >> (length + 1));
    for (size_t i = 1; i < length; i++) {
        if ((at[i] & 0xc0) != 0x80)
            return 0;
        *code = *code << 6 | (at[i] & 0x3fU);
    }
    if (*code < least[length] || *code > 0x10ffff || (*code >= 0xd800 && *code <= 0xdfff))
        return 0;
    return length;
}

static bool is_control(uint32_t code)
{
    return code < 0x20 || (code >= 0x7f && code <= 0x9f) || code == 0x061c ||
           (code >= 0x200e && code <= 0x200f) || /* direction marks */
           (code >= 0x2028 && code <= 0x202e) || /* separators, embeddings, overrides */
           (code >= 0x2066 && code <= 0x2069);   /* isolates */
}

bool pkb_clean_append(pkb_buf *out, const char *text, size_t bytes, size_t most_bytes)
{
    static const char unknown[] = "\xef\xbf\xbd";
    const unsigned char *at = (const unsigned char *)text;
    size_t appended = 0;

    for (size_t i = 0, length; i < bytes; i += length) {
        char shown[MOST_CHARACTER_BYTES] = "?";
        uint32_t code = 0;
        size_t shown_bytes = 1;
        length = decode(at + i, bytes - i, &code);
        if (length == 0) {
            length = 1;
            shown_bytes = sizeof unknown - 1;
            memcpy(shown, unknown, shown_bytes);
        } else if (code == '\n' || code == '\t') {
            shown[0] = ' ';
        } else if (!is_control(code)) {
            shown_bytes = length;
            memcpy(shown, at + i, length);
        }
        if (appended + shown_bytes > most_bytes)
            return false;
        pkb_buf_append(out, shown, shown_bytes);
        appended += shown_bytes;
    }
    return true;
}

void pkb_clean_append_lines(pkb_buf *out, const char *text, size_t bytes)
{
    for (size_t start = 0; start < bytes;) {
        const char *end = memchr(text + start, '\n', bytes - start);
        const size_t length = end != NULL ? (size_t)(end - text) - start : bytes - start;
        pkb_clean_append(out, text + start, length, SIZE_MAX);
        if (end != NULL)
            pkb_buf_append_byte(out, '\n');
        start += length + 1;
    }
}

bool pkb_clean_is_utf8(const char *text, size_t bytes)
{
    const unsigned char *at = (const unsigned char *)text;
    uint32_t code = 0;
    size_t length = 0;

    for (size_t i = 0; i < bytes; i += length) {
        length = decode(at + i, bytes - i, &code);
        if (length == 0)
            return false;
    }
    return true;
}

static pkb_code clean_string(cJSON *value, pkb_error *err)
{
    pkb_buf text = {0};
    const size_t bytes = strlen(value->valuestring);

    pkb_clean_append(&text, value->valuestring, bytes, SIZE_MAX);
    pkb_code rc = pkb_buf_check(&text, "a text", err);
    if (rc == PKB_OK && strcmp(pkb_buf_text(&text), value->valuestring) != 0 &&
        cJSON_SetValuestring(value, pkb_buf_text(&text)) == NULL)
        rc = pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for a text");
    pkb_buf_clear(&text);
    return rc;
}

pkb_code pkb_clean_json(cJSON *value, pkb_error *err)
{
    pkb_code rc = cJSON_IsString(value) ? clean_string(value, err) : PKB_OK;
    for (cJSON *child = value->child; child != NULL && rc == PKB_OK; child = child->next)
        rc = pkb_clean_json(child, err);
    return rc;
}
