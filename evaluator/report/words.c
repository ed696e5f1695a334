/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbered texts; see words.h.
 */
#include "evaluator/report/words.h"

#include <cjson/cJSON.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_SLOTS = 256 };

/* FNV-1a. */
static uint64_t hash_of(const char *text)
{
    uint64_t hash = 0xcbf29ce484222325u;

    for (; *text != '\0'; text++)
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
    return hash;
}

/* The slot of the text, or the free one that is its. */
static size_t *find_slot(const pkb_words *words, const char *text)
{
    size_t at = hash_of(text) % words->slot_count;

    while (words->slots[at] != 0 && strcmp(words->items[words->slots[at] - 1], text) != 0)
        at = (at + 1) % words->slot_count;
    return &words->slots[at];
}

/* At most half of the slots are taken. */
static pkb_code grow(pkb_words *words, pkb_error *err)
{
    const size_t slot_count = words->slot_count > 0 ? 2 * words->slot_count : FIRST_SLOTS;
    size_t *slots = NULL, *old = words->slots;
    char **items = NULL;

    if (2 * (words->count + 1) <= words->slot_count)
        return PKB_OK;
    slots = calloc(slot_count, sizeof *slots);
    items = reallocarray(words->items, slot_count / 2, sizeof *items);
    if (items != NULL)
        words->items = items;
    if (slots == NULL || items == NULL) {
        free(slots);
        return pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for the report");
    }
    words->slots = slots;
    words->slot_count = slot_count;
    for (size_t i = 0; i < words->count; i++)
        *find_slot(words, words->items[i]) = i + 1;
    free(old);
    return PKB_OK;
}

pkb_code pkb_words_add(pkb_words *words, const char *text, size_t *number, pkb_error *err)
{
    const pkb_code rc = grow(words, err);

    if (rc != PKB_OK)
        return rc;
    size_t *slot = find_slot(words, text);
    if (*slot == 0) {
        words->items[words->count] = strdup(text);
        if (words->items[words->count] == NULL)
            return pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for the report");
        *slot = ++words->count;
    }
    *number = *slot - 1;
    return PKB_OK;
}

void pkb_words_quote(pkb_buf *out, const char *text)
{
    cJSON *string = cJSON_CreateStringReference(text);
    char *printed = string != NULL ? cJSON_PrintUnformatted(string) : NULL;

    if (printed != NULL)
        pkb_buf_append_string(out, printed);
    else
        out->status = PKB_ERR_MEMORY;
    cJSON_free(printed);
    cJSON_Delete(string);
}

void pkb_words_json(pkb_buf *out, const pkb_words *words)
{
    for (size_t i = 0; i < words->count; i++) {
        pkb_buf_append_byte(out, i > 0 ? ',' : '[');
        pkb_words_quote(out, words->items[i]);
    }
    pkb_buf_append_string(out, words->count > 0 ? "]" : "[]");
}

void pkb_words_clear(pkb_words *words)
{
    for (size_t i = 0; i < words->count; i++)
        free(words->items[i]);
    free(words->items);
    free(words->slots);
    *words = (pkb_words){0};
}
