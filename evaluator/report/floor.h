/* SPDX-License-Identifier: Apache-2.0
 *
 * The least time that a problem takes at a size: its cost model at a machine's ceilings
 * (harness/runner/floor.py).
 */
#ifndef PKB_EVALUATOR_REPORT_FLOOR_H
#define PKB_EVALUATOR_REPORT_FLOOR_H

#include <cjson/cJSON.h>

#include "base/buf.h"
#include "base/error.h"
#include "evaluator/machine/tool.h"
#include "evaluator/score/score.h"

typedef struct pkb_floors {
    cJSON *json; /* NULL: none is known */
    pkb_buf why; /* none is known, in words; empty where some are */
} pkb_floors;

/* Asks Python for those of the score's problems that the catalogue has; `ceilings` is a file. None
 * where nothing was timed, or in several worlds. PKB_ERR_USAGE: the file holds no ceilings. The
 * caller clears. */
pkb_code pkb_floors_find(pkb_floors *out, const pkb_toolbox *tools, const char *ceilings,
                         const pkb_score *score, const pkb_catalogue *catalogue, pkb_error *err);
/* In microseconds, at "pkb" or "pkb cp1xtp2"; 0 = not known. */
double pkb_floors_us(const pkb_floors *floors, const char *problem, const char *size);
void pkb_floors_clear(pkb_floors *floors);

#endif
