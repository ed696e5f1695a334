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

#include "harness/judge/device.h"
#include "harness/judge/number.h"
#include "harness/judge/survey.h"

static const double REFERENCE_FACTOR = 4.0;

static void take_survey(pkb_survey *s, const pkb_comparison *c)
{
    (c->device != NULL ? c->device->survey : pkb_survey_take)(s, c);
}

static pkb_tally take_tally(const pkb_comparison *c, pkb_tally_rule rule, double limit)
{
    return (c->device != NULL ? c->device->tally : pkb_tally_take)(c, rule, limit);
}

static pkb_mismatch unfinished(void)
{
    return (pkb_mismatch){.is_wrong = true, .is_unfinished = true, .metric = "unfinished"};
}

static bool is_whole(const pkb_survey *s, const pkb_comparison *c)
{
    return s->part_count == c->element_count * pkb_survey_parts(c->dtype);
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
static double block_rms(const pkb_survey *s, const pkb_deviation *side, size_t block)
{
    return s->block_count[block] == 0
               ? 0.0
               : sqrt(side->block_sum[block] / (double)s->block_count[block]);
}

static size_t worst_block(const pkb_survey *s, const pkb_deviation *side)
{
    size_t worst = 0;
    for (size_t b = 1; b < PKB_COMPARE_BLOCKS; b++)
        if (block_rms(s, side, b) > block_rms(s, side, worst))
            worst = b;
    return worst;
}

/* What errors are relative to: the RMS of the oracle's parts, and of its elements (a complex one
 * has two parts). */
static double part_rms(const pkb_survey *s)
{
    return s->finite_count == 0 ? 0.0 : sqrt(s->oracle_sum / (double)s->finite_count);
}

static double element_rms(const pkb_survey *s, pkb_dtype dtype)
{
    return part_rms(s) * sqrt((double)pkb_survey_parts(dtype));
}

/* The three errors of one side in absolute terms. */
static pkb_tolerance errors_of(const pkb_survey *s, const pkb_deviation *side)
{
    double count = s->finite_count == 0 ? 1.0 : (double)s->finite_count;
    return (pkb_tolerance){.norm = sqrt(side->sum / count),
                           .block = block_rms(s, side, worst_block(s, side)),
                           .max = side->largest};
}

static pkb_mismatch compare_float(const pkb_comparison *c)
{
    pkb_mismatch m = {.metric = "max"};
    pkb_survey s;
    take_survey(&s, c);
    if (!is_whole(&s, c))
        return unfinished();

    double rms = part_rms(&s), of_element = element_rms(&s, c->dtype);
    double tiny = pkb_number_smallest(pkb_survey_part_dtype(c->dtype));
    pkb_tolerance out = errors_of(&s, &s.out), own = errors_of(&s, &s.reference);
    double max_limit = limit_of(c->tolerance.max, of_element, own.max, tiny);

    if (s.out.non_finite_count > 0)
        m = (pkb_mismatch){.is_wrong = true, .metric = "non-finite", .index = s.out.non_finite_at};
    else if (is_beyond(&m, "max", out.max, max_limit, of_element))
        m.index = s.out.largest_at;
    else if (is_beyond(&m, "block", out.block, limit_of(c->tolerance.block, rms, own.block, tiny),
                       rms))
        m.index = s.out.block_largest_at[worst_block(&s, &s.out)];
    else if (is_beyond(&m, "norm", out.norm, limit_of(c->tolerance.norm, rms, own.norm, tiny), rms))
        m.index = s.out.largest_at;
    if (m.is_wrong) {
        m.index /= pkb_survey_parts(c->dtype);
        /* A second pass, on failure only. */
        m.wrong_count = take_tally(c, PKB_TALLY_BEYOND, max_limit).count;
        m.wrong_count += m.wrong_count == 0;
    }
    return m;
}

static double relative(double error, double scale)
{
    if (scale > 0.0)
        return error / scale;
    return error > 0.0 ? (double)INFINITY : 0.0;
}

pkb_tolerance pkb_compare_errors(const pkb_comparison *c)
{
    pkb_survey s;
    take_survey(&s, c);
    if (!is_whole(&s, c) || s.out.non_finite_count > 0)
        return (pkb_tolerance){(double)INFINITY, (double)INFINITY, (double)INFINITY};

    pkb_tolerance errors = errors_of(&s, &s.out);
    errors.norm = relative(errors.norm, part_rms(&s));
    errors.block = relative(errors.block, part_rms(&s));
    errors.max = relative(errors.max, element_rms(&s, c->dtype));
    return errors;
}

static pkb_mismatch compare_each(const pkb_comparison *c, pkb_tally_rule rule)
{
    pkb_tally tally = take_tally(c, rule, 0.0);
    bool is_code = rule == PKB_TALLY_CODE && c->check == PKB_CHECK_QUANTIZED;
    if (tally.element_count != c->element_count)
        return unfinished();
    if (tally.count == 0)
        return (pkb_mismatch){.metric = "exact"};
    return (pkb_mismatch){.is_wrong = true,
                          .metric = is_code ? "code" : "exact",
                          .index = tally.first,
                          .wrong_count = tally.count};
}

pkb_mismatch pkb_compare(const pkb_comparison *c)
{
    if (c->check == PKB_CHECK_NONE || c->element_count == 0)
        return (pkb_mismatch){.metric = "exact"};
    bool has_real_oracle =
        pkb_dtype_oracle_bytes(c->dtype) != pkb_dtype_bytes(c->dtype) || c->dtype == PKB_F64;
    if (!has_real_oracle)
        return compare_each(c, PKB_TALLY_CODE);
    return c->check == PKB_CHECK_FLOAT ? compare_float(c) : compare_each(c, PKB_TALLY_INEXACT);
}

void pkb_compare_expected_text(const pkb_comparison *c, size_t index, char *out, size_t bytes)
{
    size_t element_bytes = pkb_dtype_oracle_bytes(c->dtype);
    double value[2] = {0.0, 0.0};

    const char *from = (const char *)c->oracle + index * element_bytes;
    if (c->device != NULL)
        c->device->read(value, from, element_bytes);
    else
        memcpy(value, from, element_bytes);
    if (element_bytes == pkb_dtype_bytes(c->dtype) && c->dtype != PKB_F64)
        pkb_number_text(out, bytes, value, c->dtype);
    else if (pkb_survey_parts(c->dtype) == 2)
        snprintf(out, bytes, "(%.9g, %.9g)", value[0], value[1]);
    else
        pkb_number_text(out, bytes, value, PKB_F64);
}
