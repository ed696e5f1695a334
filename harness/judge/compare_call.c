/* SPDX-License-Identifier: Apache-2.0
 *
 * The comparison as plain-C entry points for Python's ctypes (libpkbcompare.so): names instead of
 * enumerators, plain numbers instead of structures. 0 = done, -1 = an unknown dtype or check.
 */
#include <string.h>

#include "harness/judge/compare.h"

#define PKB_EXPORT __attribute__((visibility("default")))

enum { METRIC_BYTES = 16 };

typedef struct pkb_compare_answer { /* as harness/runner/compare.py declares it */
    int64_t is_wrong, index, wrong_count;
    double error, limit;
    char metric[METRIC_BYTES];
} pkb_compare_answer;

/* What is compared, as harness/runner/compare.py declares it. */
typedef struct pkb_compare_request {
    const char *dtype, *check;
    const void *out, *reference, *oracle, *alternative;
    uint64_t element_count, row_count;
    double norm, block, max;
} pkb_compare_request;

PKB_EXPORT int pkb_compare_call(const pkb_compare_request *request, pkb_compare_answer *answer);
PKB_EXPORT int pkb_compare_errors_call(const pkb_compare_request *request, double errors[3]);

static bool parse_request(pkb_comparison *out, const pkb_compare_request *request)
{
    *out = (pkb_comparison){.out = request->out,
                            .reference = request->reference,
                            .oracle = request->oracle,
                            .alternative = request->alternative,
                            .element_count = request->element_count,
                            .row_count = request->row_count,
                            .tolerance = {request->norm, request->block, request->max}};
    return pkb_check_parse(request->check, &out->check, NULL) == PKB_OK &&
           pkb_dtype_parse(request->dtype, &out->dtype, NULL) == PKB_OK;
}

int pkb_compare_call(const pkb_compare_request *request, pkb_compare_answer *answer)
{
    pkb_comparison comparison;
    if (!parse_request(&comparison, request))
        return -1;
    pkb_mismatch m = pkb_compare(&comparison);
    *answer = (pkb_compare_answer){.is_wrong = m.is_wrong,
                                   .index = (int64_t)m.index,
                                   .wrong_count = (int64_t)m.wrong_count,
                                   .error = m.error,
                                   .limit = m.limit};
    strncpy(answer->metric, m.metric, sizeof answer->metric - 1);
    return 0;
}

int pkb_compare_errors_call(const pkb_compare_request *request, double errors[3])
{
    pkb_comparison comparison;
    if (!parse_request(&comparison, request) || !pkb_dtype_is_float(comparison.dtype))
        return -1;
    pkb_tolerance found = pkb_compare_errors(&comparison);
    errors[0] = found.norm;
    errors[1] = found.block;
    errors[2] = found.max;
    return 0;
}
