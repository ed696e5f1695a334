/* SPDX-License-Identifier: Apache-2.0
 *
 * Pairs of batches turned into numbers: pure functions.
 */
#ifndef PKB_HARNESS_TIMING_H
#define PKB_HARNESS_TIMING_H

#include <stdint.h>

#include "base/stats.h"
#include "harness/judge/attempt.h"

/* No speed-up is scored by fewer. */
enum { PKB_LEAST_PAIRS = 6 };

/* A batch lasts as long as its slowest rank. */
uint64_t pkb_timing_slowest_ns(const uint64_t *rank_ns, uint32_t world);
/* What a batch of `calls` that took `ns` says about how many fill `batch_ns`; `most` at most. */
uint32_t pkb_timing_wanted_calls(uint32_t calls, uint64_t ns, uint64_t batch_ns, uint32_t most);
/* Whether `calls` do where so many are wanted. */
bool pkb_timing_is_long_enough(uint32_t calls, uint32_t wanted);
/* Whether they are so few that what does not depend on their number is too large a part. */
bool pkb_timing_is_far_too_short(uint32_t calls, uint32_t wanted);
/* reference / attempt per call of each pair: median with its bootstrap interval, which is wider
 * where pairs that follow each other are alike. */
pkb_interval pkb_timing_speedup(const pkb_timing *timing, uint32_t world);
/* Whether half that interval is under 1 % of the median. */
bool pkb_timing_is_stable(const pkb_timing *timing, uint32_t world);
/* Median time of one call in microseconds. */
double pkb_timing_attempt_us(const pkb_timing *timing, uint32_t world);
double pkb_timing_reference_us(const pkb_timing *timing, uint32_t world);

#endif
