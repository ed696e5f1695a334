/* SPDX-License-Identifier: Apache-2.0
 *
 * The host functions of include/pkbench.h as plain C. That header needs CUDA's, which this program
 * does without; the sizes below and tests/e2e/attempts/abi.cu keep the two alike.
 */
#ifndef PKB_HARNESS_CELL_ABI_H
#define PKB_HARNESS_CELL_ABI_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "harness/memory/signals.h"

#define PKB_ATTEMPT_API __attribute__((visibility("default")))

typedef struct pkb_world pkb_world;

typedef struct pkb_peer_table {
    uint64_t stride, timeout_ns;
    char *signals;
    int32_t rank, world_size;
} pkb_peer_table;
static_assert(sizeof(pkb_peer_table) == 32, "include/pkbench.h has another layout");

typedef struct pkb_group_info {
    int32_t size, rank;
    const int32_t *ranks;
} pkb_group_info;
static_assert(sizeof(pkb_group_info) == 16, "include/pkbench.h has another layout");

PKB_ATTEMPT_API int pkb_rank(const pkb_world *world);
PKB_ATTEMPT_API int pkb_world_size(const pkb_world *world);
PKB_ATTEMPT_API pkb_peer_table pkb_peers(const pkb_world *world);
PKB_ATTEMPT_API const pkb_group_info *pkb_group(const pkb_world *world, const char *axis);
PKB_ATTEMPT_API void *pkb_symmetric_alloc(pkb_world *world, size_t bytes);
PKB_ATTEMPT_API int pkb_is_present(const pkb_world *world, const void *pointer, int q);
PKB_ATTEMPT_API void *pkb_multicast(const pkb_world *world, const void *pointer);
PKB_ATTEMPT_API uint64_t pkb_timeout_ns(const pkb_world *world);

/* The entry points of an attempt. */
typedef int pkb_setup_function(pkb_world *world, const void *args, void **state);
typedef int pkb_run_function(pkb_world *world, const void *args, void *state, void *stream);
typedef void pkb_teardown_function(pkb_world *world, void *state);

#endif
