/* SPDX-License-Identifier: Apache-2.0
 *
 * A growing byte buffer, the project's only string builder. Failure is sticky: after an append
 * that ran out of memory all later ones do nothing, so a writer may append many times and ask
 * pkb_buf_check once at the end.
 */
#ifndef PKB_BASE_BUF_H
#define PKB_BASE_BUF_H

#include <stddef.h>

#include "base/error.h"

typedef struct pkb_buf {
    char *data;   /* always followed by a NUL byte; NULL while nothing was appended */
    size_t bytes; /* without the NUL */
    size_t capacity_bytes;
    pkb_code status; /* PKB_OK or PKB_ERR_MEMORY */
} pkb_buf;

/* Makes an empty buffer that owns no memory. Equals all zero bytes. */
void pkb_buf_init(pkb_buf *buf);

/* Frees the memory and makes the buffer empty again. */
void pkb_buf_clear(pkb_buf *buf);

/* Makes the buffer empty but keeps its memory for the next use. */
void pkb_buf_reset(pkb_buf *buf);

/* Room for `bytes` more bytes, so that appending them cannot fail. */
pkb_code pkb_buf_reserve(pkb_buf *buf, size_t bytes);

pkb_code pkb_buf_append(pkb_buf *buf, const void *data, size_t bytes);
pkb_code pkb_buf_append_string(pkb_buf *buf, const char *text);
pkb_code pkb_buf_append_byte(pkb_buf *buf, char byte);
pkb_code pkb_buf_printf(pkb_buf *buf, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The text, "" when nothing was appended. Valid until the next change. */
const char *pkb_buf_text(const pkb_buf *buf);

/* PKB_OK, or the sticky failure recorded in `err`; `what` names what was being built. */
pkb_code pkb_buf_check(const pkb_buf *buf, const char *what, pkb_error *err);

/* Hands the text to the caller, who frees it, and empties the buffer. NULL after a failure. */
char *pkb_buf_take(pkb_buf *buf);

#endif
