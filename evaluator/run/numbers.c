/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads lists of numbers; see numbers.h.
 */
#include "evaluator/run/numbers.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_DIGITS = 9 }; /* as in the name of a sample */

static bool read_number(int64_t *out, const char *text, size_t digits)
{
    if (digits == 0 || digits > MOST_DIGITS)
        return false;
    *out = strtoll(text, NULL, 10);
    return true;
}

/* "7" or "0-4". */
static bool read_range(struct pkb_numbers_range *out, const char *word)
{
    static const char digit[] = "0123456789";
    const size_t first = strspn(word, digit);

    if (!read_number(&out->first, word, first))
        return false;
    out->last = out->first;
    if (word[first] == '\0')
        return true;
    const char *second = word + first + 1;
    return word[first] == '-' && second[strspn(second, digit)] == '\0' &&
           read_number(&out->last, second, strlen(second)) && out->first <= out->last;
}

pkb_code pkb_numbers_parse(pkb_numbers *out, const char *list, pkb_error *err)
{
    char *copy = strdup(list), *rest = NULL;
    pkb_numbers numbers = {.ranges = calloc(strlen(list) + 1, sizeof *numbers.ranges)};
    pkb_code rc = PKB_OK;

    if (copy == NULL || numbers.ranges == NULL) {
        free(copy);
        free(numbers.ranges);
        return pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for the list of samples");
    }
    for (char *word = strtok_r(copy, ", ", &rest); word != NULL && rc == PKB_OK;
         word = strtok_r(NULL, ", ", &rest))
        if (!read_range(&numbers.ranges[numbers.count++], word))
            rc = pkb_error_set(err, PKB_ERR_USAGE, 0,
                               "'%s' is no number of a sample and no range of them; say for "
                               "instance --samples 0-4,7",
                               word);
    if (rc == PKB_OK && numbers.count == 0)
        rc = pkb_error_set(err, PKB_ERR_USAGE, 0, "--samples names no sample");
    free(copy);
    if (rc != PKB_OK) {
        pkb_numbers_clear(&numbers);
        return rc;
    }
    *out = numbers;
    return PKB_OK;
}

bool pkb_numbers_hold(const pkb_numbers *numbers, int64_t number)
{
    for (size_t i = 0; i < numbers->count; i++)
        if (number >= numbers->ranges[i].first && number <= numbers->ranges[i].last)
            return true;
    return false;
}

void pkb_numbers_clear(pkb_numbers *numbers)
{
    free(numbers->ranges);
    *numbers = (pkb_numbers){0};
}
