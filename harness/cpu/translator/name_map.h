/* SPDX-License-Identifier: Apache-2.0
 *
 * Maps (name, scope number) to an unsigned number. Names are borrowed, not copied.
 */
#ifndef PKB_PTX_NAME_MAP_H
#define PKB_PTX_NAME_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

typedef struct pkb_ptx_name_entry {
    const char *name; /* NULL = free slot */
    uint32_t length, scope, value;
} pkb_ptx_name_entry;

/* All zero bytes are an empty map. */
typedef struct pkb_ptx_name_map {
    pkb_ptx_name_entry *entries;
    size_t count, capacity;
} pkb_ptx_name_map;

void pkb_ptx_name_map_clear(pkb_ptx_name_map *map);

/* Forgets all names but keeps the memory. */
void pkb_ptx_name_map_reset(pkb_ptx_name_map *map);

/* Adds or replaces; PKB_ERR_MEMORY when there is none (no message is recorded). */
pkb_code pkb_ptx_name_map_put(pkb_ptx_name_map *map, const char *name, uint32_t length,
                              uint32_t scope, uint32_t value);

bool pkb_ptx_name_map_get(const pkb_ptx_name_map *map, const char *name, uint32_t length,
                          uint32_t scope, uint32_t *out);

#endif
