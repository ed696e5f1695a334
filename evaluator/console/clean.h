/* SPDX-License-Identifier: Apache-2.0
 *
 * Text from outside made fit for terminals and JSON. Everything that an attempt has a say in
 * (compiler messages, reasons, what it printed, names of files) goes through here.
 */
#ifndef PKB_EVALUATOR_CLEAN_H
#define PKB_EVALUATOR_CLEAN_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

/* Appends valid UTF-8 that moves no cursor: white space becomes a space, other control characters
 * (C0, DEL, C1, line and direction marks) '?', and each byte that is no UTF-8 U+FFFD. Stops at the
 * last whole character within `most_bytes`; true if all of the text was appended. */
bool pkb_clean_append(pkb_buf *out, const char *text, size_t bytes, size_t most_bytes);

/* The same of several lines, without a limit. */
void pkb_clean_append_lines(pkb_buf *out, const char *text, size_t bytes);

bool pkb_clean_is_utf8(const char *text, size_t bytes);

/* Cleans every string in `value`. */
pkb_code pkb_clean_json(cJSON *value, pkb_error *err);

#endif
