/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory that is made once by a judge and travels as a file descriptor. On the CPU a sealed memfd:
 * a cell can neither shrink it under its judge nor grow it.
 */
#ifndef PKB_HARNESS_REGION_H
#define PKB_HARNESS_REGION_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

typedef struct pkb_region {
    int fd;        /* -1 = none */
    void *address; /* NULL = not mapped here */
    size_t bytes;
} pkb_region;

#define PKB_REGION_NONE \
    {                   \
        .fd = -1        \
    }

/* Makes `bytes` of zero-filled, sparse, sealed memory named `name` and maps it read-write. */
pkb_code pkb_region_create(pkb_region *region, const char *name, size_t bytes, pkb_error *err);
/* Maps a region that another process made; checks its size and seals. Takes over the fd. */
pkb_code pkb_region_adopt(pkb_region *region, int fd, size_t bytes, pkb_error *err);
/* The same for reading only, whatever the descriptor allows. The file is opened anew through /proc,
 * so that no later mprotect can make the mapping writable. */
pkb_code pkb_region_adopt_read_only(pkb_region *region, int fd, size_t bytes, pkb_error *err);
/* Gives back the pages: reads zero afterwards. */
pkb_code pkb_region_discard(pkb_region *region, pkb_error *err);
/* Memory in use, whoever touched it: what a cell dirties here is in no limit of its own. */
uint64_t pkb_region_used_bytes(const pkb_region *region);
void pkb_region_clear(pkb_region *region); /* unmaps and closes */

/* Plain-C entry points for Python's ctypes (libpkbregion.so): NULL on failure, errno set. */
void *pkb_region_map(int fd, size_t bytes);
int pkb_region_unmap(void *address, size_t bytes);

#endif
