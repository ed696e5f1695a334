/* SPDX-License-Identifier: Apache-2.0
 *
 * A content-addressed cache of built files on disk: $PKBENCH_CACHE, else $XDG_CACHE_HOME/pkbench,
 * else ~/.cache/pkbench. Entries appear whole (a renamed directory), may be used by many processes
 * at once, and the least recently used go first when there is too much.
 */
#ifndef PKB_EVALUATOR_CACHE_H
#define PKB_EVALUATOR_CACHE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/hash.h"

typedef struct pkb_cache {
    char *directory;
    size_t limit_bytes;   /* 1 GiB unless changed */
    int prune_interval_s; /* 300 unless changed: in between there may be more than the limit */
} pkb_cache;

/* Makes the directory (0700). */
pkb_code pkb_cache_open(pkb_cache *out, pkb_error *err);
void pkb_cache_clear(pkb_cache *cache);

/* Whoever builds an entry holds its lock until it closes `*fd`; death releases it. False: another
 * process builds it now. True with `*fd` -1: no locks here, so two may build the same. */
bool pkb_cache_lock(const pkb_cache *cache, const char *key, int *fd);

/* Whether there is an entry, which is used by this. */
bool pkb_cache_has(const pkb_cache *cache, const char *key);
/* Puts copies (hard links where possible) of the entry's files into `directory`. False, with none
 * of them left there, if the entry or one of the files is missing. */
bool pkb_cache_fetch(const pkb_cache *cache, const char *key, const char *directory,
                     const char *const *names, size_t count);
/* Stores the named files of `directory` under the key, unless it has an entry already, and now
 * and then removes the oldest entries beyond the limit. */
pkb_code pkb_cache_store(const pkb_cache *cache, const char *key, const char *directory,
                         const char *const *names, size_t count, pkb_error *err);

#endif
