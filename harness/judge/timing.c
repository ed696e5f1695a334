/* SPDX-License-Identifier: Apache-2.0
 *
 * Statistics of batch pairs; see timing.h.
 */
#include "harness/judge/timing.h"

#include <math.h>

#include "base/clock.h"

enum { BOOTSTRAP_ROUNDS = 2000 };
#define BOOTSTRAP_SEED UINT64_C(20250101)
/* Of an attempt's batch without any work (results/published/h200-x2). */
#define HANDOVER_NS (PKB_NS_PER_MS / 5)
static const double STABLE_FRAC = 0.01;
/* More cannot be told from so few pairs. */
static const double MOST_ALIKE = 0.8;

uint64_t pkb_timing_slowest_ns(const uint64_t *rank_ns, uint32_t world)
{
    uint64_t slowest_ns = 0;
    for (uint32_t rank = 0; rank < world; rank++)
        if (rank_ns[rank] > slowest_ns)
            slowest_ns = rank_ns[rank];
    return slowest_ns;
}

uint32_t pkb_timing_wanted_calls(uint32_t calls, uint64_t ns, uint64_t batch_ns, uint32_t most)
{
    if (ns > 2 * HANDOVER_NS) /* a short batch is mostly that */
        ns -= HANDOVER_NS;
    const uint64_t wanted = ns == 0 ? most : calls * batch_ns / ns + 1;
    return wanted > most ? most : (uint32_t)wanted;
}

/* A batch that is a little short is as good, and the next one of a noisy side would be so again. */
bool pkb_timing_is_long_enough(uint32_t calls, uint32_t wanted)
{
    return wanted <= calls + calls / 8;
}

bool pkb_timing_is_far_too_short(uint32_t calls, uint32_t wanted)
{
    return wanted / 2 > calls;
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

/* The pace at which a host starts kernels drifts: batches of the reference that follow each other
 * are alike, so that n of them say less than n independent ones, and a bootstrap that draws them
 * one by one does not know it. For a first-order process of correlation r the standard error is
 * larger by the root of (1 + r) / (1 - r); n values read r too low by about (1 + 3 r) / n. */
static double likeness_factor(const double *ratios, uint32_t count)
{
    double logs[PKB_MAX_PAIRS], n = count;

    if (count < PKB_LEAST_PAIRS)
        return 1;
    for (uint32_t i = 0; i < count; i++)
        logs[i] = log(ratios[i]);
    double alike = (n * pkb_stats_autocorrelation(logs, count) + 1) / (n - 3);
    if (!(alike > 0))
        return 1;
    alike = fmin(alike, MOST_ALIKE);
    return sqrt((1 + alike) / (1 - alike));
}

pkb_interval pkb_timing_speedup(const pkb_timing *timing, uint32_t world)
{
    double ratios[PKB_MAX_PAIRS];
    for (uint32_t i = 0; i < timing->pair_count; i++)
        ratios[i] = reference_call_ns(timing, i, world) / attempt_call_ns(timing, i, world);
    pkb_interval speedup =
        pkb_stats_bootstrap_median(ratios, timing->pair_count, BOOTSTRAP_ROUNDS, BOOTSTRAP_SEED);
    const double factor = likeness_factor(ratios, timing->pair_count);
    if (factor > 1) { /* as ratios, so that both ends stay above 0 */
        speedup.low = speedup.value * pow(speedup.low / speedup.value, factor);
        speedup.high = speedup.value * pow(speedup.high / speedup.value, factor);
    }
    return speedup;
}

bool pkb_timing_is_stable(const pkb_timing *timing, uint32_t world)
{
    const pkb_interval speedup = pkb_timing_speedup(timing, world);
    return (speedup.high - speedup.low) / 2 / speedup.value < STABLE_FRAC;
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
