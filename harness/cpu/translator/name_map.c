/* SPDX-License-Identifier: Apache-2.0
 *
 * Open addressing with linear probing; see name_map.h.
 */
#include "harness/cpu/translator/name_map.h"

#include <stdlib.h>
#include <string.h>

static size_t hash_name(const char *name, uint32_t length, uint32_t scope)
{
    uint64_t hash = 0xcbf29ce484222325u ^ scope; /* FNV-1a */
    for (uint32_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)name[i]) * 0x100000001b3u;
    return (size_t)(hash ^ hash >> 29);
}

/* The name's slot, or the free one where it belongs. The map is never full. */
static pkb_ptx_name_entry *find_slot(const pkb_ptx_name_map *map, const char *name, uint32_t length,
                                     uint32_t scope)
{
    size_t i = hash_name(name, length, scope) & (map->capacity - 1);
    for (;; i = (i + 1) & (map->capacity - 1)) {
        pkb_ptx_name_entry *entry = &map->entries[i];
        if (entry->name == NULL || (entry->length == length && entry->scope == scope &&
                                    memcmp(entry->name, name, length) == 0))
            return entry;
    }
}

static pkb_code grow(pkb_ptx_name_map *map)
{
    pkb_ptx_name_map larger = {NULL, map->count, map->capacity == 0 ? 64 : map->capacity * 2};
    larger.entries = calloc(larger.capacity, sizeof *larger.entries);
    if (larger.entries == NULL)
        return PKB_ERR_MEMORY;
    for (size_t i = 0; i < map->capacity; i++) {
        pkb_ptx_name_entry *old = &map->entries[i];
        if (old->name != NULL)
            *find_slot(&larger, old->name, old->length, old->scope) = *old;
    }
    free(map->entries);
    *map = larger;
    return PKB_OK;
}

void pkb_ptx_name_map_clear(pkb_ptx_name_map *map)
{
    free(map->entries);
    memset(map, 0, sizeof *map);
}

void pkb_ptx_name_map_reset(pkb_ptx_name_map *map)
{
    if (map->count > 0)
        memset(map->entries, 0, map->capacity * sizeof *map->entries);
    map->count = 0;
}

pkb_code pkb_ptx_name_map_put(pkb_ptx_name_map *map, const char *name, uint32_t length,
                              uint32_t scope, uint32_t value)
{
    if (map->count + 1 > map->capacity / 2 && grow(map) != PKB_OK)
        return PKB_ERR_MEMORY;
    pkb_ptx_name_entry *entry = find_slot(map, name, length, scope);
    map->count += entry->name == NULL;
    *entry = (pkb_ptx_name_entry){name, length, scope, value};
    return PKB_OK;
}

bool pkb_ptx_name_map_get(const pkb_ptx_name_map *map, const char *name, uint32_t length,
                          uint32_t scope, uint32_t *out)
{
    if (map->count == 0)
        return false;
    const pkb_ptx_name_entry *entry = find_slot(map, name, length, scope);
    if (entry->name == NULL)
        return false;
    *out = entry->value;
    return true;
}
