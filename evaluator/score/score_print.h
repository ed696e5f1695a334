/* SPDX-License-Identifier: Apache-2.0
 *
 * A score, printed: as one line of JSON, as rows of CSV, as tables for people.
 */
#ifndef PKB_EVALUATOR_SCORE_PRINT_H
#define PKB_EVALUATOR_SCORE_PRINT_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdio.h>

#include "evaluator/score/score.h"

/* The caller frees. */
pkb_code pkb_score_json(cJSON **out, const pkb_score *score, pkb_error *err);

/* The names of the columns, and a row a number. */
void pkb_score_csv_head(FILE *out);
pkb_code pkb_score_csv(FILE *out, const pkb_score *score, pkb_error *err);

/* With a row a problem, where that is asked for. */
void pkb_score_text(FILE *out, const pkb_score *score, bool by_problem);
/* score_text_parts.c: by class of sizes, category, collective and, if asked for, problem. */
void pkb_score_text_parts(FILE *out, const pkb_score *score, bool by_problem);

/* Adds {"value", "low", "high"}, or nothing where the value is NaN; without an interval only the
 * value. Returns the object, or NULL. */
cJSON *pkb_score_json_interval(cJSON *to, const char *key, pkb_interval interval);
/* Adds the number, or nothing for NaN. */
void pkb_score_json_number(cJSON *to, const char *key, double number);
/* What was judged: device, world, ...; a mixed one is a list of its values. */
void pkb_score_json_conditions(cJSON *to, const pkb_runset *runset);
void pkb_score_text_conditions(FILE *out, const pkb_runset *runset);

/* "32.2 % [23.0, 42.5]", "1.53x [1.20, 1.95]", "-" for NaN. */
enum { PKB_SCORE_TEXT_BYTES = 64 };
void pkb_score_percent(char out[PKB_SCORE_TEXT_BYTES], pkb_interval interval);
void pkb_score_times(char out[PKB_SCORE_TEXT_BYTES], pkb_interval interval);

#endif
