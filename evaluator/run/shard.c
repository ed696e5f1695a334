/* SPDX-License-Identifier: Apache-2.0
 *
 * Parts of a run; see shard.h.
 */
#include "evaluator/run/shard.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_DIGITS = 4 };

/* From 1 to 9999; 0 = no such number. */
static int read_number(const char *text, size_t digits)
{
    return digits == 0 || digits > MOST_DIGITS ? 0 : (int)strtol(text, NULL, 10);
}

pkb_code pkb_shard_parse(pkb_shard *out, const char *text, pkb_error *err)
{
    static const char digit[] = "0123456789";

    if (text == NULL) {
        *out = (pkb_shard){1, 1};
        return PKB_OK;
    }
    const size_t first = strspn(text, digit);
    const char *second = text[first] == '/' ? text + first + 1 : "";
    const pkb_shard shard = {read_number(text, first), read_number(second, strlen(second))};
    if (second[strspn(second, digit)] != '\0' || shard.index < 1 || shard.index > shard.count)
        return pkb_error_set(err, PKB_ERR_USAGE, 0,
                             "--shard wants I/N with 1 <= I <= N <= 9999, such as 1/4, not '%s'",
                             text);
    *out = shard;
    return PKB_OK;
}

/* Without a product that could overflow. */
static size_t begin_of(size_t count, size_t part, size_t parts)
{
    const size_t each = count / parts, rest = count % parts;
    return each * part + (rest * part) / parts;
}

void pkb_shard_range(const pkb_shard *shard, size_t count, size_t *first, size_t *end)
{
    const size_t part = (size_t)shard->index - 1, parts = (size_t)shard->count;
    *first = begin_of(count, part, parts);
    *end = begin_of(count, part + 1, parts);
}
