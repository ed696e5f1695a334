/* SPDX-License-Identifier: Apache-2.0
 *
 * Statistics of batch pairs; see timing.h.
 */
#include "harness/judge/timing.h"

enum { BOOTSTRAP_ROUNDS = 2000 };
#define BOOTSTRAP_SEED UINT64_C(20250101)

uint64_t pkb_timing_slowest_ns(const uint64_t *rank_ns, uint32_t world)
{
    uint64_t slowest_ns = 0;
    for (uint32_t rank = 0; rank < world; rank++)
        if (rank_ns[rank] > slowest_ns)
            slowest_ns = rank_ns[rank];
    return slowest_ns;
}

pkb_interval pkb_timing_speedup(const pkb_batch_pair *pairs, uint32_t pair_count, uint32_t world)
{
    double ratios[PKB_MAX_PAIRS];
    for (uint32_t i = 0; i < pair_count; i++)
        ratios[i] = (double)pkb_timing_slowest_ns(pairs[i].reference_ns, world) /
                    (double)pkb_timing_slowest_ns(pairs[i].attempt_ns, world);
    return pkb_stats_bootstrap_median(ratios, pair_count, BOOTSTRAP_ROUNDS, BOOTSTRAP_SEED);
}

double pkb_timing_attempt_us(const pkb_batch_pair *pairs, uint32_t pair_count, uint32_t world,
                             uint32_t calls)
{
    double us[PKB_MAX_PAIRS];
    for (uint32_t i = 0; i < pair_count; i++)
        us[i] = (double)pkb_timing_slowest_ns(pairs[i].attempt_ns, world) / 1e3 / calls;
    return pkb_stats_median(us, pair_count);
}

double pkb_timing_reference_us(const pkb_batch_pair *pairs, uint32_t pair_count, uint32_t world,
                               uint32_t calls)
{
    double us[PKB_MAX_PAIRS];
    for (uint32_t i = 0; i < pair_count; i++)
        us[i] = (double)pkb_timing_slowest_ns(pairs[i].reference_ns, world) / 1e3 / calls;
    return pkb_stats_median(us, pair_count);
}
