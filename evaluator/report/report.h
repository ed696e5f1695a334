/* SPDX-License-Identifier: Apache-2.0
 *
 * One self-contained HTML page about runs (docs/report.md). Its numbers are those of `score --json`
 * and `compare --json`; the page's script only shows them.
 */
#ifndef PKB_EVALUATOR_REPORT_H
#define PKB_EVALUATOR_REPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/error.h"
#include "evaluator/machine/tool.h"
#include "evaluator/problem/catalogue.h"
#include "evaluator/score/score.h"

/* Every pair of runs is compared. */
enum { PKB_REPORT_MOST_RUNS = 12 };

/* All embedded sources together. */
enum { PKB_REPORT_SOURCES_BYTES = 2 << 20 };

typedef struct pkb_report_options {
    const char *root;         /* of the project */
    const char *ceilings;     /* a file: of the machine; NULL = not known */
    const pkb_toolbox *tools; /* needed with ceilings */
    const pkb_catalogue *catalogue;
    const char *path; /* of the page; links in it are relative to its folder */
    bool embeds_sources;
    bool mixes;     /* runs whose conditions differ are compared, and marked */
    pkb_buf *notes; /* gets lines for whoever asked */
} pkb_report_options;

/* Writes the page about 1 to PKB_REPORT_MOST_RUNS scores; `*bytes` is its size. PKB_ERR_MISSING:
 * the plotting library is not there. */
pkb_code pkb_report_write(const pkb_report_options *options, const pkb_score *const *scores,
                          size_t count, size_t *bytes, pkb_error *err);

#endif
