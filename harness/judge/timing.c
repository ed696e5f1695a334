/* SPDX-License-Identifier: Apache-2.0
 *
 * Statistics of batch pairs; see timing.h.
 */
#include "harness/judge/timing.h"

enum { BOOTSTRAP_ROUNDS = 2000 };
#define BOOTSTRAP_SEED UINT64_C(20250101)
static const double STABLE_FRAC = 0.01;

uint64_t pkb_timing_slowest_ns(const uint64_t *rank_ns, uint32_t world)
{
    uint64_t slowest_ns = 0;
    for (uint32_t rank = 0; rank < world; rank++)
        if (rank_ns[rank] > slowest_ns)
            slowest_ns = rank_ns[rank];
    return slowest_ns;
}

static double reference_call_ns(const pkb_timing *timing, uint32_t pair, uint32_t world)
{
    return (double)pkb_timing_slowest_ns(timing->pairs[pair].reference_ns, world) /
           timing->reference_calls;
}

static double attempt_call_ns(const pkb_timing *timing, uint32_t pair, uint32_t world)
{
    return (double)pkb_timing_slowest_ns(timing->pairs[pair].attempt_ns, world) /
           timing->attempt_calls;
}

pkb_interval pkb_timing_speedup(const pkb_timing *timing, uint32_t world)
{
    double ratios[PKB_MAX_PAIRS];
    for (uint32_t i = 0; i < timing->pair_count; i++)
        ratios[i] = reference_call_ns(timing, i, world) / attempt_call_ns(timing, i, world);
    return pkb_stats_bootstrap_median(ratios, timing->pair_count, BOOTSTRAP_ROUNDS, BOOTSTRAP_SEED);
}

bool pkb_timing_is_stable(const pkb_timing *timing, uint32_t world)
{
    pkb_interval speedup = pkb_timing_speedup(timing, world);
    return (speedup.high - speedup.low) / 2.0 < STABLE_FRAC * speedup.value;
}

double pkb_timing_attempt_us(const pkb_timing *timing, uint32_t world)
{
    double us[PKB_MAX_PAIRS];
    for (uint32_t i = 0; i < timing->pair_count; i++)
        us[i] = attempt_call_ns(timing, i, world) / 1e3;
    return pkb_stats_median(us, timing->pair_count);
}

double pkb_timing_reference_us(const pkb_timing *timing, uint32_t world)
{
    double us[PKB_MAX_PAIRS];
    for (uint32_t i = 0; i < timing->pair_count; i++)
        us[i] = reference_call_ns(timing, i, world) / 1e3;
    return pkb_stats_median(us, timing->pair_count);
}
