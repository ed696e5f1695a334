/* SPDX-License-Identifier: Apache-2.0
 *
 * Pairs of batches turned into numbers: pure functions.
 */
#ifndef PKB_HARNESS_TIMING_H
#define PKB_HARNESS_TIMING_H

#include <stdint.h>

#include "base/stats.h"
#include "harness/judge/attempt.h"

/* A batch lasts as long as its slowest rank. */
uint64_t pkb_timing_slowest_ns(const uint64_t *rank_ns, uint32_t world);
/* reference / attempt of each pair: median with its bootstrap interval. */
pkb_interval pkb_timing_speedup(const pkb_batch_pair *pairs, uint32_t pair_count, uint32_t world);
/* Median time of one call in microseconds. */
double pkb_timing_attempt_us(const pkb_batch_pair *pairs, uint32_t pair_count, uint32_t world,
                             uint32_t calls);
double pkb_timing_reference_us(const pkb_batch_pair *pairs, uint32_t pair_count, uint32_t world,
                               uint32_t calls);

#endif
