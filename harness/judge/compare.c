/* SPDX-License-Identifier: Apache-2.0
 *
 * Comparison of outputs; compare.h has the rules. Errors are kept in absolute terms, so that an
 * all-zero oracle needs no special case: its limits are the reference's own error, else the
 * smallest number of the dtype.
 */
#include "harness/judge/compare.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "harness/judge/number.h"

enum { CHUNK = 2048 }; /* doubles a buffer: three of them stay in the L1/L2 cache */

static const double REFERENCE_FACTOR = 4.0;

/* What one side (attempt or reference) deviates by. */
typedef struct deviation {
    double sum; /* of squares */
    double block_sum[PKB_COMPARE_BLOCKS];
    double largest;
    size_t largest_at, block_largest_at[PKB_COMPARE_BLOCKS];
    double block_largest[PKB_COMPARE_BLOCKS];
    size_t non_finite_count, non_finite_at; /* places where the pattern differs */
} deviation;

typedef struct survey {
    deviation out, reference;
    double oracle_sum; /* of squares, over finite elements */
    double top;        /* largest finite value of the dtype */
    size_t finite_count, block_count[PKB_COMPARE_BLOCKS];
} survey;

/* Parts are real numbers: two for each complex element. */
static size_t parts_of(pkb_dtype dtype)
{
    return dtype == PKB_C64 ? 2 : 1;
}

static pkb_dtype part_dtype(pkb_dtype dtype)
{
    return dtype == PKB_C64 ? PKB_F32 : dtype;
}

static size_t part_bytes(pkb_dtype dtype)
{
    return pkb_dtype_bytes(dtype) / parts_of(dtype);
}

/* The same class: both NaN, or the same infinity. Called when one of them is not finite. */
static bool is_same_class(double a, double b)
{
    return (isnan(a) && isnan(b)) || a == b;
}

static void deviation_add(deviation *side, size_t block, size_t at, double difference)
{
    double size = fabs(difference);
    side->block_sum[block] += size * size;
    if (size > side->block_largest[block]) {
        side->block_largest[block] = size;
        side->block_largest_at[block] = at;
    }
}

static void deviation_add_class(deviation *side, size_t at, double value, double expected)
{
    if (is_same_class(value, expected))
        return;
    if (side->non_finite_count == 0)
        side->non_finite_at = at;
    side->non_finite_count++;
}

/* The deviation of one part: `value` is the oracle's, the attempt's and the reference's. */
static void survey_add(survey *s, const pkb_comparison *c, size_t block, size_t at,
                       const double value[3])
{
    double oracle = value[0], out = value[1], reference = value[2], expected = oracle;

    if (!(fabs(oracle) <= s->top)) /* NaN, infinite, or beyond what the dtype can hold */
        expected = pkb_number_round(oracle, part_dtype(c->dtype));
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

static void survey_chunk(survey *s, const pkb_comparison *c, size_t block, size_t first,
                         size_t count)
{
    double out[CHUNK], reference[CHUNK];
    pkb_dtype dtype = part_dtype(c->dtype);
    size_t bytes = part_bytes(c->dtype);
    const double *oracle = (const double *)c->oracle + first;

    pkb_number_load(out, (const char *)c->out + first * bytes, dtype, count);
    if (c->reference != NULL)
        pkb_number_load(reference, (const char *)c->reference + first * bytes, dtype, count);
    for (size_t i = 0; i < count; i++) {
        const double value[3] = {oracle[i], out[i], c->reference != NULL ? reference[i] : 0.0};
        survey_add(s, c, block, first + i, value);
    }
}

static void deviation_close(deviation *side)
{
    for (size_t b = 0; b < PKB_COMPARE_BLOCKS; b++) {
        side->sum += side->block_sum[b];
        if (side->block_largest[b] > side->largest) {
            side->largest = side->block_largest[b];
            side->largest_at = side->block_largest_at[b];
        }
    }
}

/* Block b of rows begins at row b * rows / blocks; the last part of each in parts. */
static size_t block_begin(const pkb_comparison *c, size_t block)
{
    size_t parts = c->element_count * parts_of(c->dtype);
    size_t rows = c->row_count == 0 ? 1 : c->row_count;
    size_t blocks = rows < PKB_COMPARE_BLOCKS ? rows : PKB_COMPARE_BLOCKS;
    if (block >= blocks)
        return parts;
    return (rows * block / blocks) * (parts / rows);
}

static void survey_take(survey *s, const pkb_comparison *c)
{
    memset(s, 0, sizeof *s);
    s->top = pkb_number_largest(part_dtype(c->dtype));
    for (size_t block = 0; block < PKB_COMPARE_BLOCKS; block++) {
        size_t end = block_begin(c, block + 1);
        for (size_t first = block_begin(c, block); first < end; first += CHUNK)
            survey_chunk(s, c, block, first, end - first < CHUNK ? end - first : CHUNK);
        s->finite_count += s->block_count[block];
    }
    deviation_close(&s->out);
    deviation_close(&s->reference);
}

/* One metric in absolute terms against its limit; true if beyond. */
static bool is_beyond(pkb_mismatch *m, const char *metric, double error, double limit, double scale)
{
    if (error <= limit)
        return false;
    m->is_wrong = true;
    m->metric = metric;
    m->error = scale > 0.0 ? error / scale : error;
    m->limit = scale > 0.0 ? limit / scale : limit;
    return true;
}

static double limit_of(double tolerance, double scale, double own_error, double floor_value)
{
    return fmax(fmax(tolerance * scale, REFERENCE_FACTOR * own_error), floor_value);
}

/* RMS of block b's deviation. */
static double block_rms(const survey *s, const deviation *side, size_t block)
{
    return s->block_count[block] == 0
               ? 0.0
               : sqrt(side->block_sum[block] / (double)s->block_count[block]);
}

static size_t worst_block(const survey *s, const deviation *side)
{
    size_t worst = 0;
    for (size_t b = 1; b < PKB_COMPARE_BLOCKS; b++)
        if (block_rms(s, side, b) > block_rms(s, side, worst))
            worst = b;
    return worst;
}

/* Elements beyond `limit`: a second pass, on failure only. */
static size_t count_beyond(const pkb_comparison *c, double limit)
{
    size_t count = 0, bytes = part_bytes(c->dtype), parts = parts_of(c->dtype);
    const double *oracle = c->oracle;
    for (size_t i = 0; i < c->element_count; i++) {
        bool is_wrong = false;
        for (size_t p = i * parts; p < (i + 1) * parts; p++) {
            double out;
            pkb_number_load(&out, (const char *)c->out + p * bytes, part_dtype(c->dtype), 1);
            double expected = pkb_number_round(oracle[p], part_dtype(c->dtype));
            if (isfinite(out) && isfinite(expected))
                is_wrong |= fabs(out - oracle[p]) > limit;
            else
                is_wrong |= !is_same_class(out, expected);
        }
        count += is_wrong;
    }
    return count;
}

static pkb_mismatch compare_float(const pkb_comparison *c)
{
    pkb_mismatch m = {.metric = "max"};
    survey s;
    survey_take(&s, c);

    double count = s.finite_count == 0 ? 1.0 : (double)s.finite_count;
    double rms = sqrt(s.oracle_sum / count), tiny = pkb_number_smallest(part_dtype(c->dtype));
    /* Of one element, not of its real and imaginary part. */
    double element_rms = rms * sqrt((double)parts_of(c->dtype));
    double max_limit = limit_of(c->tolerance.max, element_rms, s.reference.largest, tiny);
    size_t block = worst_block(&s, &s.out), own = worst_block(&s, &s.reference);

    if (s.out.non_finite_count > 0) {
        m = (pkb_mismatch){.is_wrong = true, .metric = "non-finite", .index = s.out.non_finite_at};
    } else if (is_beyond(&m, "max", s.out.largest, max_limit, element_rms)) {
        m.index = s.out.largest_at;
    } else if (is_beyond(&m, "block", block_rms(&s, &s.out, block),
                         limit_of(c->tolerance.block, rms, block_rms(&s, &s.reference, own), tiny),
                         rms)) {
        m.index = s.out.block_largest_at[block];
    } else if (is_beyond(&m, "norm", sqrt(s.out.sum / count),
                         limit_of(c->tolerance.norm, rms, sqrt(s.reference.sum / count), tiny),
                         rms)) {
        m.index = s.out.largest_at;
    }
    if (m.is_wrong) {
        m.index /= parts_of(c->dtype);
        m.wrong_count = count_beyond(c, max_limit);
        m.wrong_count += m.wrong_count == 0;
    }
    return m;
}

static bool is_equal_to_oracle(const pkb_comparison *c, size_t part)
{
    double out, expected;
    pkb_number_load(&out, (const char *)c->out + part * part_bytes(c->dtype), part_dtype(c->dtype),
                    1);
    expected = pkb_number_round(((const double *)c->oracle)[part], part_dtype(c->dtype));
    return out == expected || (isnan(out) && isnan(expected));
}

static void mismatch_note(pkb_mismatch *m, const char *metric, size_t index)
{
    if (m->wrong_count++ == 0) {
        m->is_wrong = true;
        m->metric = metric;
        m->index = index;
    }
}

static pkb_mismatch compare_exact_float(const pkb_comparison *c)
{
    pkb_mismatch m = {.metric = "exact"};
    size_t parts = parts_of(c->dtype);
    for (size_t i = 0; i < c->element_count; i++)
        for (size_t p = 0; p < parts; p++)
            if (!is_equal_to_oracle(c, i * parts + p)) {
                mismatch_note(&m, "exact", i);
                break;
            }
    return m;
}

static pkb_mismatch compare_codes(const pkb_comparison *c)
{
    pkb_mismatch m = {.metric = "exact"};
    const char *metric = c->check == PKB_CHECK_QUANTIZED ? "code" : "exact";
    size_t bytes = pkb_dtype_bytes(c->dtype);
    const char *out = c->out, *oracle = c->oracle;
    const char *other = c->check == PKB_CHECK_QUANTIZED ? c->alternative : NULL;

    if (memcmp(out, oracle, c->element_count * bytes) == 0)
        return m;
    for (size_t i = 0; i < c->element_count; i++) {
        size_t at = i * bytes;
        if (memcmp(out + at, oracle + at, bytes) != 0 &&
            (other == NULL || memcmp(out + at, other + at, bytes) != 0))
            mismatch_note(&m, metric, i);
    }
    return m;
}

pkb_mismatch pkb_compare(const pkb_comparison *c)
{
    if (c->check == PKB_CHECK_NONE || c->element_count == 0)
        return (pkb_mismatch){.metric = "exact"};
    bool has_real_oracle =
        pkb_dtype_oracle_bytes(c->dtype) != pkb_dtype_bytes(c->dtype) || c->dtype == PKB_F64;
    if (!has_real_oracle)
        return compare_codes(c);
    return c->check == PKB_CHECK_FLOAT ? compare_float(c) : compare_exact_float(c);
}

void pkb_compare_expected_text(const pkb_comparison *c, size_t index, char *out, size_t bytes)
{
    size_t parts = parts_of(c->dtype);
    if (pkb_dtype_oracle_bytes(c->dtype) == pkb_dtype_bytes(c->dtype) && c->dtype != PKB_F64) {
        pkb_number_text(out, bytes, (const char *)c->oracle + index * pkb_dtype_bytes(c->dtype),
                        c->dtype);
        return;
    }
    const double *value = (const double *)c->oracle + index * parts;
    if (parts == 2)
        snprintf(out, bytes, "(%.9g, %.9g)", value[0], value[1]);
    else
        pkb_number_text(out, bytes, value, PKB_F64);
}
