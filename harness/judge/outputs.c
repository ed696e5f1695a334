/* SPDX-License-Identifier: Apache-2.0
 *
 * Whole comparison of outputs; see outputs.h.
 */
#include "harness/judge/outputs.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "harness/judge/compare.h"
#include "harness/judge/number.h"
#include "harness/judge/pattern.h"
#include "harness/judge/survey.h"

/* Fewer equal numbers accuse nobody. They are looked for among so many first ones of an output. */
enum { REPLAY_ELEMENTS = 16, REPLAY_LOOKS = 4096, REPLAY_PART = 64 };

/* Rows that are meant: all, or what the counting output is expected to say. A wrong count is found
 * at the counting output itself and never decides how much is read. */
static uint64_t meant_rows(const pkb_memory *memory, uint32_t entry, const pkb_argument *argument,
                           uint64_t rows)
{
    int64_t count = 0;
    if (argument->count_argument == 0)
        return rows;
    const pkb_argument *counting = &memory->layout.arguments[argument->count_argument - 1];
    const char *from =
        pkb_role_is_output(counting->role)
            ? (const char *)pkb_memory_oracle(memory, entry) + counting->oracle_offset
            : (const char *)pkb_memory_inputs(memory, entry) + counting->offset;
    if (!counting->present[memory->layout.rank])
        return 0;
    memory->device->read(&count, from, sizeof count);
    return count < 0 ? 0 : (uint64_t)count < rows ? (uint64_t)count : rows;
}

static pkb_comparison comparison_of(const pkb_memory *memory, const pkb_plan_size *size,
                                    const void *image, uint32_t entry, uint32_t i)
{
    const pkb_argument *argument = &memory->layout.arguments[i];
    const pkb_draw *draw = &memory->draws[entry];
    const char *oracle = (const char *)pkb_memory_oracle(memory, entry) + argument->oracle_offset;
    uint64_t elements = draw->bytes[i] / pkb_dtype_bytes(argument->dtype);
    uint64_t all_rows = argument->shape_count == 0 ? 1 : draw->shape[i][0];
    uint64_t rows = meant_rows(memory, entry, argument, all_rows);

    return (pkb_comparison){
        .device = memory->device,
        .dtype = argument->dtype,
        .check = size->rules[i].checks[draw->family],
        .out = (const char *)image + argument->offset,
        .reference = (const char *)pkb_memory_reference(memory, entry) + argument->offset,
        .oracle = oracle,
        .alternative = oracle + pkb_argument_alt_offset(argument, memory->layout.rank),
        .element_count = all_rows == 0 ? 0 : elements / all_rows * rows,
        .row_count = rows,
        .tolerance = size->rules[i].tolerance,
    };
}

/* A draw may expect nothing but zeros, or one number everywhere, and so take what was never
 * computed for it: neither zeros nor repetitions tell anything. */
static uint64_t count_telling(const pkb_comparison *comparison)
{
    const uint64_t bytes = pkb_dtype_bytes(comparison->dtype);
    uint64_t found = 0;
    double before = 0;

    for (uint64_t at = 0; at < comparison->element_count && at < REPLAY_LOOKS; at += REPLAY_PART) {
        unsigned char part[REPLAY_PART * sizeof(uint64_t)]; /* the widest dtype */
        double numbers[2 * REPLAY_PART] = {0};
        uint64_t left = comparison->element_count - at;
        uint64_t count = left < REPLAY_PART ? left : REPLAY_PART;

        comparison->device->read(part, (const char *)comparison->out + at * bytes, count * bytes);
        pkb_number_load(numbers, part, comparison->dtype, count);
        for (uint64_t i = 0; i < count * pkb_survey_parts(comparison->dtype); i++) {
            found += isfinite(numbers[i]) && numbers[i] != 0 && numbers[i] != before;
            before = numbers[i];
        }
    }
    return found;
}

/* Whether every output that is wrong for the current draw is right for an earlier one, and they are
 * more than a few numbers: a count may be an earlier draw's by accident. */
static bool is_replay_of(const pkb_memory *memory, const pkb_plan_size *size,
                         const pkb_outputs_place *place, uint32_t earlier)
{
    uint64_t telling = 0;
    for (uint32_t i = 0; i < memory->layout.argument_count; i++) {
        const pkb_argument *argument = &memory->layout.arguments[i];
        if (!pkb_role_is_output(argument->role) || !argument->present[memory->layout.rank])
            continue;
        pkb_comparison now = comparison_of(memory, size, place->image, place->entry, i);
        if (!pkb_compare(&now).is_wrong)
            continue;
        pkb_comparison then = comparison_of(memory, size, place->image, earlier, i);
        if (memory->draws[earlier].bytes[i] != memory->draws[place->entry].bytes[i] ||
            then.check == PKB_CHECK_NONE || pkb_compare(&then).is_wrong)
            return false;
        telling += count_telling(&then);
    }
    return telling >= REPLAY_ELEMENTS;
}

/* The draw that they are right for; NULL = for none. */
static const pkb_draw *find_replayed(const pkb_memory *memory, const pkb_plan_size *size,
                                     const pkb_outputs_place *place)
{
    for (uint32_t k = 0; k < place->past_count; k++)
        if (place->past[k] != place->entry && is_replay_of(memory, size, place, place->past[k]))
            return &memory->draws[place->past[k]];
    return NULL;
}

static bool is_poison(const pkb_memory *memory, const pkb_outputs_place *place,
                      const pkb_argument *argument, size_t index)
{
    uint64_t bytes = pkb_dtype_bytes(argument->dtype), at = argument->offset + index * bytes;
    unsigned char poison[16], now[16]; /* of an element, from the word in which it begins */
    uint64_t word = at / 8 * 8;

    pkb_pattern_fill_words(poison, word / 8, sizeof poison / 8, place->poison_key);
    memory->device->read(now + (at - word), (const char *)place->image + at, bytes);
    return argument->role == PKB_ROLE_OUT &&
           memcmp(now + (at - word), poison + (at - word), bytes) == 0;
}

static void note_replay(pkb_finding *finding, const pkb_argument *argument, const char *family,
                        const pkb_outputs_place *place)
{
    pkb_finding_set(finding, PKB_VERDICT_STATE_REPLAY,
                    "rank %u: output %s is the right one for the inputs of an earlier call (%s "
                    "inputs), not for the current ones (%s)",
                    finding->rank, argument->name, family, place->phase);
    snprintf(finding->output, sizeof finding->output, "%s", argument->name);
    snprintf(finding->phase, sizeof finding->phase, "%s", place->phase);
}

static void note_mismatch(pkb_finding *finding, const pkb_memory *memory, uint32_t i,
                          const pkb_comparison *comparison, const pkb_mismatch *mismatch,
                          const pkb_outputs_place *place)
{
    const pkb_argument *argument = &memory->layout.arguments[i];
    bool is_unwritten = is_poison(memory, place, argument, mismatch->index);
    char element[160], expected[48], got[48], metric[96] = "";
    uint64_t element_bytes = pkb_dtype_bytes(argument->dtype), found = 0;
    double wrong = 100.0 * (double)mismatch->wrong_count / (double)comparison->element_count;

    if (!pkb_finding_set(finding, PKB_VERDICT_WRONG_OUTPUT, "wrong"))
        return;
    pkb_finding_place(finding, argument, memory->draws[place->entry].shape[i], mismatch->index);
    pkb_finding_place_text(finding, element, sizeof element);
    pkb_compare_expected_text(comparison, mismatch->index, expected, sizeof expected);
    memory->device->read(&found, (const char *)comparison->out + mismatch->index * element_bytes,
                         element_bytes);
    pkb_number_text(got, sizeof got, &found, argument->dtype);
    if (mismatch->limit > 0.0)
        snprintf(metric, sizeof metric, ", %s error %.2g against a limit of %.2g", mismatch->metric,
                 mismatch->error, mismatch->limit);
    snprintf(finding->reason, sizeof finding->reason,
             "rank %u: output %s %s%s, expected %s (%s; %.3g %% of %s is wrong%s)%s%s",
             finding->rank, element, is_unwritten ? "was never written" : "is ",
             is_unwritten ? "" : got, expected, place->phase, wrong, argument->name, metric,
             place->comment[0] != '\0' ? "; " : "", place->comment);
    snprintf(finding->expected, sizeof finding->expected, "%s", expected);
    snprintf(finding->got, sizeof finding->got, "%s", got);
    snprintf(finding->phase, sizeof finding->phase, "%s", place->phase);
}

/* Ours or the machine's: of the output nothing is known. */
static void note_unfinished(pkb_finding *finding, const pkb_argument *argument,
                            const pkb_outputs_place *place)
{
    pkb_finding_set(finding, PKB_VERDICT_INFRA_ERROR,
                    "rank %u: the judge did not look at all of output %s (%s)", finding->rank,
                    argument->name, place->phase);
}

void pkb_outputs_compare(const pkb_memory *memory, const pkb_plan_size *size,
                         const pkb_outputs_place *place, pkb_finding *finding)
{
    for (uint32_t i = 0; i < memory->layout.argument_count; i++) {
        const pkb_argument *argument = &memory->layout.arguments[i];
        if (!pkb_role_is_output(argument->role) || !argument->present[memory->layout.rank])
            continue;
        pkb_comparison comparison = comparison_of(memory, size, place->image, place->entry, i);
        pkb_mismatch mismatch = pkb_compare(&comparison);
        if (!mismatch.is_wrong)
            continue;
        const pkb_draw *replayed =
            mismatch.is_unfinished ? NULL : find_replayed(memory, size, place);
        if (mismatch.is_unfinished)
            note_unfinished(finding, argument, place);
        else if (replayed != NULL)
            note_replay(finding, argument, size->families[replayed->family], place);
        else
            note_mismatch(finding, memory, i, &comparison, &mismatch, place);
        return;
    }
}
