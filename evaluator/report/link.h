/* SPDX-License-Identifier: Apache-2.0
 *
 * Links from a page to files beside it, as URLs that a browser follows without a server.
 */
#ifndef PKB_EVALUATOR_REPORT_LINK_H
#define PKB_EVALUATOR_REPORT_LINK_H

#include "base/buf.h"
#include "base/error.h"

/* Appends the way from the folder of the file `page` to `folder`, as "../runs/x/" or "./": never
 * absolute, and never a scheme. Both folders must exist. */
pkb_code pkb_link_base(pkb_buf *out, const char *page, const char *folder, pkb_error *err);

/* Appends a path, percent-encoded but for '/'. */
void pkb_link_encode(pkb_buf *out, const char *path);

#endif
