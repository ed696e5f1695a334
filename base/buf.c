/* SPDX-License-Identifier: Apache-2.0
 *
 * A growing byte buffer; see buf.h.
 */
#include "base/buf.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_CAPACITY_BYTES = 256 };

void pkb_buf_init(pkb_buf *buf)
{
    memset(buf, 0, sizeof *buf);
    buf->status = PKB_OK;
}

void pkb_buf_clear(pkb_buf *buf)
{
    free(buf->data);
    pkb_buf_init(buf);
}

void pkb_buf_reset(pkb_buf *buf)
{
    buf->bytes = 0;
    buf->status = PKB_OK;
    if (buf->data != NULL)
        buf->data[0] = '\0';
}

pkb_code pkb_buf_reserve(pkb_buf *buf, size_t bytes)
{
    if (buf->status != PKB_OK)
        return buf->status;
    if (bytes > SIZE_MAX / 4 || buf->bytes > SIZE_MAX / 4)
        return buf->status = PKB_ERR_MEMORY;

    size_t needed = buf->bytes + bytes + 1;
    if (needed <= buf->capacity_bytes)
        return PKB_OK;

    /* Doubling keeps the cost of n appends linear. */
    size_t capacity = buf->capacity_bytes == 0 ? FIRST_CAPACITY_BYTES : buf->capacity_bytes * 2;
    if (capacity < needed)
        capacity = needed;
    char *data = realloc(buf->data, capacity);
    if (data == NULL)
        return buf->status = PKB_ERR_MEMORY;
    data[buf->bytes] = '\0';
    buf->data = data;
    buf->capacity_bytes = capacity;
    return PKB_OK;
}

pkb_code pkb_buf_append(pkb_buf *buf, const void *data, size_t bytes)
{
    if (pkb_buf_reserve(buf, bytes) != PKB_OK)
        return buf->status;
    if (bytes > 0)
        memcpy(buf->data + buf->bytes, data, bytes);
    buf->bytes += bytes;
    buf->data[buf->bytes] = '\0';
    return PKB_OK;
}

pkb_code pkb_buf_append_string(pkb_buf *buf, const char *text)
{
    return pkb_buf_append(buf, text, strlen(text));
}

pkb_code pkb_buf_append_byte(pkb_buf *buf, char byte)
{
    return pkb_buf_append(buf, &byte, 1);
}

pkb_code pkb_buf_printf(pkb_buf *buf, const char *format, ...)
{
    if (pkb_buf_reserve(buf, 0) != PKB_OK)
        return buf->status;

    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    size_t room = buf->capacity_bytes - buf->bytes;
    int length = vsnprintf(buf->data + buf->bytes, room, format, arguments);
    if (length < 0)
        buf->status = PKB_ERR_MEMORY;
    else if ((size_t)length < room)
        buf->bytes += (size_t)length;
    else if (pkb_buf_reserve(buf, (size_t)length) == PKB_OK)
        buf->bytes += (size_t)vsnprintf(buf->data + buf->bytes, (size_t)length + 1, format, again);
    /* A failure leaves no half-written text behind. */
    if (buf->status != PKB_OK)
        buf->data[buf->bytes] = '\0';
    va_end(again);
    va_end(arguments);
    return buf->status;
}

const char *pkb_buf_text(const pkb_buf *buf)
{
    return buf->data == NULL ? "" : buf->data;
}

pkb_code pkb_buf_check(const pkb_buf *buf, const char *what, pkb_error *err)
{
    if (buf->status == PKB_OK)
        return PKB_OK;
    return pkb_error_set(err, buf->status, 0, "out of memory while building %s", what);
}

char *pkb_buf_take(pkb_buf *buf)
{
    char *text = NULL;
    if (pkb_buf_reserve(buf, 0) == PKB_OK) {
        text = buf->data;
        buf->data = NULL;
    }
    pkb_buf_clear(buf);
    return text;
}
