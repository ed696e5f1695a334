/* SPDX-License-Identifier: Apache-2.0
 *
 * Argument memory that is ordinary memory; see device.h. Nothing here can fail.
 */
#include <string.h>

#include "harness/judge/device.h"
#include "harness/judge/pattern.h"
#include "harness/judge/process.h"

static pkb_code create(pkb_region *region, const char *name, uint64_t bytes, pkb_error *err)
{
    return pkb_region_create(region, name, bytes, err);
}

/* Half of what is free; attempt, reference and system take the rest. */
static uint64_t available_bytes(uint32_t world)
{
    return pkb_process_available_bytes() / 2 / world;
}

static void fill(const pkb_span *spans, size_t count)
{
    for (size_t i = 0; i < count; i++)
        pkb_pattern_fill(spans[i].base, spans[i].begin, spans[i].end, spans[i].key);
}

static void copy(const pkb_span *spans, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (spans[i].end > spans[i].begin)
            memcpy((char *)spans[i].base + spans[i].begin,
                   (const char *)spans[i].other + spans[i].begin, spans[i].end - spans[i].begin);
}

static bool find_damage(const pkb_span *spans, size_t count, pkb_spot *spot)
{
    for (size_t i = 0; i < count; i++) {
        if (pkb_pattern_holds(spans[i].base, spans[i].begin, spans[i].end, spans[i].key, &spot->at))
            continue;
        spot->span = i;
        return true;
    }
    return false;
}

static bool find_difference(const pkb_span *spans, size_t count, pkb_spot *spot)
{
    for (size_t i = 0; i < count; i++) {
        const char *base = spans[i].base, *other = spans[i].other;
        uint64_t at = spans[i].begin;
        if (spans[i].end <= at || memcmp(base + at, other + at, spans[i].end - at) == 0)
            continue;
        while (base[at] == other[at])
            at++;
        *spot = (pkb_spot){.span = i, .at = at};
        return true;
    }
    return false;
}

static uint64_t digest(const pkb_span *spans, size_t count, uint64_t key)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += pkb_pattern_digest(spans[i].base, spans[i].begin, spans[i].end, key + i);
    return sum;
}

static void read(void *to, const void *from, size_t bytes)
{
    if (bytes > 0)
        memcpy(to, from, bytes);
}

static pkb_code synchronise(pkb_error *err)
{
    (void)err;
    return PKB_OK;
}

static pkb_code check_health(uint64_t *in_use, pkb_error *err)
{
    (void)in_use;
    (void)err;
    return PKB_OK;
}

static const pkb_judge_device device = {
    .name = "cpu",
    .is_sparse = true,
    .slot_count = 4,
    .symmetric_top = PKB_SYMMETRIC_LIMIT_BYTES,
    .create = create,
    .clear = pkb_region_clear,
    .discard = pkb_region_discard,
    .available_bytes = available_bytes,
    .fill = fill,
    .copy = copy,
    .find_damage = find_damage,
    .find_difference = find_difference,
    .digest = digest,
    .read = read,
    .survey = pkb_survey_take,
    .tally = pkb_tally_take,
    .synchronise = synchronise,
    .check_health = check_health,
};

const pkb_judge_device *pkb_judge_device_cpu(void)
{
    return &device;
}
