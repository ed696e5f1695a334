/* SPDX-License-Identifier: Apache-2.0
 *
 * What a page shows of each attempt: verdict, reason, times, links. Records are read a second time,
 * for these are texts that scores have no use for.
 */
#ifndef PKB_EVALUATOR_REPORT_ATTEMPTS_H
#define PKB_EVALUATOR_REPORT_ATTEMPTS_H

#include "base/buf.h"
#include "base/error.h"
#include "evaluator/report/facts.h"
#include "evaluator/report/floor.h"
#include "evaluator/report/words.h"
#include "evaluator/score/runset.h"

typedef struct pkb_attempts {
    const pkb_runset *runset;
    const pkb_floors *floors;
    char **bases; /* links to the folders of the runset */
    char **rows;  /* JSON, an outcome of the runset each */
    pkb_words reasons, paths, sizes, sources;
    pkb_facts facts;
    size_t reason_bytes, source_bytes;
    size_t changed_count; /* sources that are no longer those that were judged: not embedded */
    bool embeds_sources;
} pkb_attempts;

/* `page` is the file that the links start from. PKB_ERR_USAGE: a file changed since the runset was
 * read, or the sources to embed are too many. The caller clears in any case. */
pkb_code pkb_attempts_read(pkb_attempts *out, const pkb_runset *runset, const pkb_floors *floors,
                           const char *page, bool embeds_sources, pkb_error *err);
/* One JSON object (page/given.js unpacks the rows). */
void pkb_attempts_json(pkb_buf *out, const pkb_attempts *attempts);
void pkb_attempts_clear(pkb_attempts *attempts);

#endif
