/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers of samples as a command line lists them: "0-4,7".
 */
#ifndef PKB_EVALUATOR_NUMBERS_H
#define PKB_EVALUATOR_NUMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

typedef struct pkb_numbers {
    struct pkb_numbers_range {
        int64_t first, last;
    } * ranges;
    size_t count;
} pkb_numbers;

/* PKB_ERR_USAGE names the word that is no number or range. The caller clears. */
pkb_code pkb_numbers_parse(pkb_numbers *out, const char *list, pkb_error *err);
bool pkb_numbers_hold(const pkb_numbers *numbers, int64_t number);
void pkb_numbers_clear(pkb_numbers *numbers);

#endif
