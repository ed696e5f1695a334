/* SPDX-License-Identifier: Apache-2.0
 *
 * A request to a worker: one line of JSON (docs/worker.md).
 */
#ifndef PKB_EVALUATOR_REQUEST_H
#define PKB_EVALUATOR_REQUEST_H

#include <cjson/cJSON.h>
#include <stdbool.h>

#include "base/buf.h"
#include "base/lines.h"
#include "evaluator/problem/catalogue.h"

enum { PKB_REQUEST_LIMIT_BYTES = 8 << 20 };

typedef struct pkb_request {
    cJSON *json;         /* holds the texts */
    const cJSON *id;     /* a string, or the raw text of a number; NULL = none that can be used */
    const char *problem; /* the catalogue's */
    const char *source, *file; /* one of them; the other is NULL */
    const char *device;        /* NULL = the worker's */
    pkb_buf sizes;             /* "tiny,pkb"; empty = the worker's */
    int world;                 /* 0 = the worker's */
    bool has_time, is_timed;   /* without has_time: the worker's */
    bool is_fresh;
} pkb_request;

/* PKB_ERR_FORMAT or PKB_ERR_USAGE say what is wrong; then `out->id` may be known all the same. The
 * caller clears in any case. */
pkb_code pkb_request_parse(pkb_request *out, const pkb_catalogue *catalogue, const pkb_line *line,
                           pkb_error *err);
void pkb_request_clear(pkb_request *request);

#endif
