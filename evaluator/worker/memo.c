/* SPDX-License-Identifier: Apache-2.0
 *
 * A ring of records; see memo.h.
 */
#include "evaluator/worker/memo.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t place_of(const pkb_memo *memo, size_t nth)
{
    return (memo->first + nth) % PKB_MEMO_ENTRIES;
}

const char *pkb_memo_find(const pkb_memo *memo, const char *judgement)
{
    for (size_t nth = memo->count; nth-- > 0;) {
        const pkb_memo_entry *entry = &memo->entries[place_of(memo, nth)];
        if (strcmp(entry->judgement, judgement) == 0)
            return entry->text;
    }
    return NULL;
}

static void drop_oldest(pkb_memo *memo)
{
    pkb_memo_entry *entry = &memo->entries[memo->first];

    memo->bytes -= entry->bytes;
    free(entry->text);
    *entry = (pkb_memo_entry){.text = NULL};
    memo->first = (memo->first + 1) % PKB_MEMO_ENTRIES;
    memo->count--;
}

pkb_code pkb_memo_keep(pkb_memo *memo, const char *judgement, const char *text, pkb_error *err)
{
    const size_t bytes = strlen(text);

    if (bytes > PKB_MEMO_BYTES)
        return PKB_OK;
    char *copy = strdup(text);
    if (copy == NULL)
        return pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for a record");
    while (memo->count == PKB_MEMO_ENTRIES || memo->bytes + bytes > PKB_MEMO_BYTES)
        drop_oldest(memo);
    pkb_memo_entry *entry = &memo->entries[place_of(memo, memo->count++)];
    *entry = (pkb_memo_entry){.text = copy, .bytes = bytes};
    snprintf(entry->judgement, sizeof entry->judgement, "%s", judgement);
    memo->bytes += bytes;
    return PKB_OK;
}

void pkb_memo_clear(pkb_memo *memo)
{
    while (memo->count > 0)
        drop_oldest(memo);
}
