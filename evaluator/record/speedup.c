/* SPDX-License-Identifier: Apache-2.0
 *
 * Means of speed-ups; see speedup.h.
 */
#include "evaluator/record/speedup.h"

#include <math.h>
#include <string.h>

#include "base/json.h"

bool pkb_speedup_is_scored(const cJSON *size)
{
    const char *class = pkb_json_string_or(size, "class", "");
    return strcmp(class, "pkb") == 0 || strcmp(class, "large") == 0;
}

static bool read_interval(pkb_interval *out, const cJSON *size)
{
    const cJSON *speedup = cJSON_GetObjectItemCaseSensitive(size, "speedup");
    const cJSON *eager = cJSON_GetObjectItemCaseSensitive(speedup, "eager");
    return eager != NULL && pkb_json_get_double(eager, "value", &out->value, NULL) == PKB_OK &&
           pkb_json_get_double(eager, "low", &out->low, NULL) == PKB_OK &&
           pkb_json_get_double(eager, "high", &out->high, NULL) == PKB_OK && out->value > 0 &&
           out->low > 0 && out->high > 0 && isfinite(out->value) && isfinite(out->low) &&
           isfinite(out->high);
}

bool pkb_speedup_of_record(pkb_interval *out, const cJSON *record)
{
    const cJSON *sizes = cJSON_GetObjectItemCaseSensitive(record, "sizes"), *size = NULL;
    pkb_interval sum = {0}, one = {0};
    int count = 0;

    if (strcmp(pkb_json_string_or(record, "verdict", ""), "CORRECT") != 0 ||
        strcmp(pkb_json_string_or(record, "device", "cpu"), "cpu") == 0)
        return false;
    cJSON_ArrayForEach(size, sizes)
    {
        if (!pkb_speedup_is_scored(size))
            continue;
        if (!read_interval(&one, size))
            return false;
        sum.value += log(one.value);
        sum.low += log(one.low);
        sum.high += log(one.high);
        count++;
    }
    if (count == 0)
        return false;
    out->value = exp(sum.value / count);
    out->low = exp(sum.low / count);
    out->high = exp(sum.high / count);
    return true;
}
