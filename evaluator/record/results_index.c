/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds records by attempt and by judgement; see results_index.h.
 */
#include "evaluator/record/results_index.h"

#include <stdlib.h>
#include <string.h>

#include "evaluator/record/record.h"

enum { FIRST_CAPACITY = 64 };

static const size_t no_entry = SIZE_MAX;

static pkb_code no_memory(pkb_error *err)
{
    return pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for the records");
}

/* ---- chains ---- */

/* FNV-1a. */
static size_t place_of(const char *text, size_t chains)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    for (const char *c = text; *c != '\0'; c++)
        hash = (hash ^ (unsigned char)*c) * UINT64_C(1099511628211);
    return (size_t)(hash % chains);
}

static void link_entry(pkb_results_index *index, size_t place)
{
    pkb_results_entry *entry = &index->entries[place];
    size_t *id = &index->ids[place_of(entry->id, index->capacity)];
    size_t *judgement = &index->judgements[place_of(entry->judgement, index->capacity)];

    entry->next_of_id = *id;
    entry->next_of_judgement = *judgement;
    *id = *judgement = place;
}

static pkb_code grow(pkb_results_index *index, pkb_error *err)
{
    const size_t wanted = index->capacity == 0 ? FIRST_CAPACITY : 2 * index->capacity;
    pkb_results_entry *entries = reallocarray(index->entries, wanted, sizeof *entries);

    if (entries == NULL)
        return no_memory(err);
    index->entries = entries;
    size_t *ids = calloc(wanted, sizeof *ids), *judgements = calloc(wanted, sizeof *judgements);
    if (ids == NULL || judgements == NULL) {
        free(ids);
        free(judgements);
        return no_memory(err);
    }
    free(index->ids);
    free(index->judgements);
    index->ids = ids;
    index->judgements = judgements;
    index->capacity = wanted;
    for (size_t i = 0; i < wanted; i++)
        ids[i] = judgements[i] = no_entry;
    for (size_t i = 0; i < index->count; i++)
        link_entry(index, i);
    return PKB_OK;
}

pkb_code pkb_results_index_add(pkb_results_index *index, const pkb_results_entry *entry,
                               const char *id, pkb_error *err)
{
    pkb_code rc = index->count == index->capacity ? grow(index, err) : PKB_OK;
    char *copy = rc == PKB_OK ? strdup(id) : NULL;

    if (rc != PKB_OK)
        return rc;
    if (copy == NULL)
        return no_memory(err);
    index->entries[index->count] = *entry;
    index->entries[index->count].id = copy;
    link_entry(index, index->count++);
    return PKB_OK;
}

void pkb_results_index_clear(pkb_results_index *index)
{
    for (size_t i = 0; i < index->count; i++)
        free(index->entries[i].id);
    free(index->entries);
    free(index->ids);
    free(index->judgements);
    *index = (pkb_results_index){0};
}

/* ---- questions ---- */

static bool is_pending(const pkb_results_entry *entry)
{
    return entry->verdict == PKB_VERDICT_INFRA_ERROR;
}

bool pkb_results_query_accepts(const pkb_results_query *query, const pkb_results_entry *entry)
{
    const uint32_t verdicts = entry->is_new ? query->new_verdicts : query->old_verdicts;
    return !is_pending(entry) && (verdicts & PKB_VERDICT_BIT(entry->verdict)) != 0 &&
           strcmp(entry->judgement, query->judgement) == 0;
}

const pkb_results_entry *pkb_results_index_find(const pkb_results_index *index,
                                                const pkb_results_query *query)
{
    const pkb_results_entry *best = NULL;

    if (index->count == 0)
        return NULL;
    for (size_t i = index->judgements[place_of(query->judgement, index->capacity)]; i != no_entry;
         i = index->entries[i].next_of_judgement) {
        const pkb_results_entry *entry = &index->entries[i];
        if (pkb_results_query_accepts(query, entry) &&
            (query->id == NULL || strcmp(entry->id, query->id) == 0) &&
            (best == NULL || entry->revision > best->revision))
            best = entry;
    }
    return best;
}

/* Does `a` count although `b`, which was read before it, is there? A failure of ours takes no
 * verdict of the same source away. */
static bool replaces(const pkb_results_entry *a, const pkb_results_entry *b)
{
    const bool is_same = strcmp(a->judgement, b->judgement) == 0;

    if (a->revision != b->revision) {
        const pkb_results_entry *later = a->revision > b->revision ? a : b;
        return (later == a) != (is_same && is_pending(later));
    }
    return !(is_pending(a) && (is_same || a->file != b->file));
}

/* The first of the chain from `i` on that is of the attempt. */
static size_t find_id(const pkb_results_index *index, size_t i, const char *id)
{
    while (i != no_entry && strcmp(index->entries[i].id, id) != 0)
        i = index->entries[i].next_of_id;
    return i;
}

static size_t first_of_id(const pkb_results_index *index, const char *id)
{
    return index->count == 0 ? no_entry
                             : find_id(index, index->ids[place_of(id, index->capacity)], id);
}

const pkb_results_entry *pkb_results_index_standing(const pkb_results_index *index, const char *id)
{
    size_t i = first_of_id(index, id);
    const pkb_results_entry *best = i == no_entry ? NULL : &index->entries[i];

    while (i != no_entry) {
        const pkb_results_entry *entry = &index->entries[i];
        if (entry != best && !replaces(best, entry)) /* newest first */
            best = entry;
        i = find_id(index, entry->next_of_id, id);
    }
    return best == NULL || is_pending(best) ? NULL : best;
}

int64_t pkb_results_index_revision(const pkb_results_index *index, const char *id)
{
    int64_t next = 0;

    for (size_t i = first_of_id(index, id); i != no_entry;
         i = find_id(index, index->entries[i].next_of_id, id)) {
        const pkb_results_entry *entry = &index->entries[i];
        if (!is_pending(entry) && entry->revision >= next)
            next = entry->revision + 1;
    }
    return next < PKB_REVISION_MOST ? next : PKB_REVISION_MOST;
}
