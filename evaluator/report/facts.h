/* SPDX-License-Identifier: Apache-2.0
 *
 * Under what an attempt was judged, as its records say: each thing with its different values.
 */
#ifndef PKB_EVALUATOR_REPORT_FACTS_H
#define PKB_EVALUATOR_REPORT_FACTS_H

#include <cjson/cJSON.h>

#include "base/buf.h"
#include "base/error.h"

enum { PKB_FACTS = 64, PKB_FACT_VALUES = 6 };

typedef struct pkb_fact {
    char *name; /* "versions.torch" */
    char *values[PKB_FACT_VALUES];
    size_t count; /* of values */
    size_t rest;  /* records that say something else */
} pkb_fact;

typedef struct pkb_facts {
    pkb_fact items[PKB_FACTS];
    size_t count;
} pkb_facts;

pkb_code pkb_facts_add(pkb_facts *facts, const cJSON *record, pkb_error *err);
/* [["versions.torch", ["2.11.0"], rest], ...] */
void pkb_facts_json(pkb_buf *out, const pkb_facts *facts);
void pkb_facts_clear(pkb_facts *facts);

#endif
