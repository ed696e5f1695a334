/* SPDX-License-Identifier: Apache-2.0
 *
 * The page itself: page.html with its style, script, plotting library and data put in.
 */
#ifndef PKB_EVALUATOR_REPORT_PAGE_H
#define PKB_EVALUATOR_REPORT_PAGE_H

#include "base/buf.h"
#include "base/error.h"

/* Appends the page. `json` is the data; `root` the project's. Only its own scripts may run there,
 * and nothing can be fetched. PKB_ERR_MISSING: the plotting library is not installed. */
pkb_code pkb_page_make(pkb_buf *out, const char *root, const char *json, pkb_error *err);

#endif
