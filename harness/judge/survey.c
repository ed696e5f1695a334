/* SPDX-License-Identifier: Apache-2.0
 *
 * One pass over an output in ordinary memory; see survey.h.
 */
#include "harness/judge/survey.h"

#include <math.h>
#include <string.h>

#include "harness/judge/number.h"

enum { CHUNK = 2048 }; /* doubles a buffer: three of them stay in the L1/L2 cache */

size_t pkb_survey_parts(pkb_dtype dtype)
{
    return dtype == PKB_C64 ? 2 : 1;
}

pkb_dtype pkb_survey_part_dtype(pkb_dtype dtype)
{
    return dtype == PKB_C64 ? PKB_F32 : dtype;
}

static size_t part_bytes(pkb_dtype dtype)
{
    return pkb_dtype_bytes(dtype) / pkb_survey_parts(dtype);
}

/* The same class: both NaN, or the same infinity. Called when one of them is not finite. */
static bool is_same_class(double a, double b)
{
    return (isnan(a) && isnan(b)) || a == b;
}

/* ---- deviations ---- */

static void deviation_add(pkb_deviation *side, size_t block, size_t at, double difference)
{
    double size = fabs(difference);
    side->block_sum[block] += size * size;
    if (size > side->block_largest[block]) {
        side->block_largest[block] = size;
        side->block_largest_at[block] = at;
    }
}

static void deviation_add_class(pkb_deviation *side, size_t at, double value, double expected)
{
    if (is_same_class(value, expected))
        return;
    if (side->non_finite_count == 0)
        side->non_finite_at = at;
    side->non_finite_count++;
}

/* The deviation of one part: `value` is the oracle's, the attempt's and the reference's. `top` is
 * the largest finite value of the dtype. */
static void survey_add(pkb_survey *s, const pkb_comparison *c, double top, size_t block, size_t at,
                       const double value[3])
{
    double oracle = value[0], out = value[1], reference = value[2], expected = oracle;

    if (!(fabs(oracle) <= top)) /* NaN, infinite, or beyond what the dtype can hold */
        expected = pkb_number_round(oracle, pkb_survey_part_dtype(c->dtype));
    if (!isfinite(expected)) {
        deviation_add_class(&s->out, at, out, expected);
        return;
    }
    s->block_count[block]++;
    s->oracle_sum += oracle * oracle;
    if (isfinite(out))
        deviation_add(&s->out, block, at, out - oracle);
    else
        deviation_add_class(&s->out, at, out, expected);
    if (c->reference != NULL && isfinite(reference))
        deviation_add(&s->reference, block, at, reference - oracle);
}

static void survey_chunk(pkb_survey *s, const pkb_comparison *c, size_t block, size_t first,
                         size_t count)
{
    double out[CHUNK], reference[CHUNK];
    pkb_dtype dtype = pkb_survey_part_dtype(c->dtype);
    size_t bytes = part_bytes(c->dtype);
    double top = pkb_number_largest(dtype);
    const double *oracle = (const double *)c->oracle + first;

    s->part_count += count;
    pkb_number_load(out, (const char *)c->out + first * bytes, dtype, count);
    if (c->reference != NULL)
        pkb_number_load(reference, (const char *)c->reference + first * bytes, dtype, count);
    for (size_t i = 0; i < count; i++) {
        const double value[3] = {oracle[i], out[i], c->reference != NULL ? reference[i] : 0.0};
        survey_add(s, c, top, block, first + i, value);
    }
}

static void deviation_close(pkb_deviation *side)
{
    for (size_t b = 0; b < PKB_COMPARE_BLOCKS; b++) {
        side->sum += side->block_sum[b];
        if (side->block_largest[b] > side->largest) {
            side->largest = side->block_largest[b];
            side->largest_at = side->block_largest_at[b];
        }
    }
}

size_t pkb_survey_block_begin(const pkb_comparison *c, size_t block)
{
    size_t parts = c->element_count * pkb_survey_parts(c->dtype);
    size_t rows = c->row_count == 0 ? 1 : c->row_count;
    size_t blocks = rows < PKB_COMPARE_BLOCKS ? rows : PKB_COMPARE_BLOCKS;
    if (block >= blocks)
        return parts;
    return (rows * block / blocks) * (parts / rows);
}

void pkb_survey_close(pkb_survey *s)
{
    for (size_t block = 0; block < PKB_COMPARE_BLOCKS; block++)
        s->finite_count += s->block_count[block];
    deviation_close(&s->out);
    deviation_close(&s->reference);
}

void pkb_survey_take(pkb_survey *s, const pkb_comparison *c)
{
    memset(s, 0, sizeof *s);
    for (size_t block = 0; block < PKB_COMPARE_BLOCKS; block++) {
        size_t end = pkb_survey_block_begin(c, block + 1);
        for (size_t first = pkb_survey_block_begin(c, block); first < end; first += CHUNK)
            survey_chunk(s, c, block, first, end - first < CHUNK ? end - first : CHUNK);
    }
    pkb_survey_close(s);
}

/* ---- tallies ---- */

static bool is_part_wrong(const pkb_comparison *c, size_t part, pkb_tally_rule rule, double limit)
{
    pkb_dtype dtype = pkb_survey_part_dtype(c->dtype);
    double oracle = ((const double *)c->oracle)[part], out, expected;

    pkb_number_load(&out, (const char *)c->out + part * part_bytes(c->dtype), dtype, 1);
    expected = pkb_number_round(oracle, dtype);
    if (rule == PKB_TALLY_BEYOND && isfinite(out) && isfinite(expected))
        return fabs(out - oracle) > limit;
    return !is_same_class(out, expected);
}

static bool is_code_wrong(const pkb_comparison *c, size_t i)
{
    size_t bytes = pkb_dtype_bytes(c->dtype), at = i * bytes;
    const char *out = (const char *)c->out + at, *other = c->alternative;

    if (memcmp(out, (const char *)c->oracle + at, bytes) == 0)
        return false;
    return c->check != PKB_CHECK_QUANTIZED || other == NULL || memcmp(out, other + at, bytes) != 0;
}

static bool is_wrong(const pkb_comparison *c, size_t i, pkb_tally_rule rule, double limit)
{
    size_t parts = pkb_survey_parts(c->dtype);
    if (rule == PKB_TALLY_CODE)
        return is_code_wrong(c, i);
    return is_part_wrong(c, i * parts, rule, limit) ||
           (parts == 2 && is_part_wrong(c, i * parts + 1, rule, limit));
}

pkb_tally pkb_tally_take(const pkb_comparison *c, pkb_tally_rule rule, double limit)
{
    pkb_tally tally = {0};
    if (rule == PKB_TALLY_CODE &&
        memcmp(c->out, c->oracle, c->element_count * pkb_dtype_bytes(c->dtype)) == 0) {
        tally.element_count = c->element_count;
        return tally;
    }
    for (; tally.element_count < c->element_count; tally.element_count++)
        if (is_wrong(c, tally.element_count, rule, limit) && tally.count++ == 0)
            tally.first = tally.element_count;
    return tally;
}
