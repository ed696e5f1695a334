/* SPDX-License-Identifier: Apache-2.0
 *
 * Records errors; see error.h for the pattern.
 */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

pkb_code pkb_error_set_at(pkb_error *err, pkb_code code, int detail, int detail_is_errno,
                          const char *file, int line, const char *format, ...)
{
    if (err == NULL)
        return code;

    err->code = code;
    err->detail = detail;
    err->file = file;
    err->line = line;

    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(err->message, sizeof err->message, format, arguments);
    va_end(arguments);

    if (detail_is_errno && length >= 0 && (size_t)length < sizeof err->message)
        snprintf(err->message + length, sizeof err->message - (size_t)length, ": %s",
                 strerror(detail));
    return code;
}

const char *pkb_code_name(pkb_code code)
{
    switch (code) {
    case PKB_OK:
        return "ok";
    case PKB_ERR_USAGE:
        return "usage";
    case PKB_ERR_IO:
        return "io";
    case PKB_ERR_DISK:
        return "disk";
    case PKB_ERR_MEMORY:
        return "memory";
    case PKB_ERR_FORMAT:
        return "format";
    case PKB_ERR_CHILD:
        return "child";
    case PKB_ERR_TIMEOUT:
        return "timeout";
    case PKB_ERR_CUDA:
        return "cuda";
    case PKB_ERR_MISSING:
        return "missing";
    case PKB_ERR_INTERRUPTED:
        return "interrupted";
    }
    return "unknown";
}

int pkb_code_exit_status(pkb_code code)
{
    switch (code) {
    case PKB_OK:
        return 0;
    case PKB_ERR_USAGE:
        return 2;
    case PKB_ERR_DISK:
        return 5;
    case PKB_ERR_INTERRUPTED:
        return 130;
    case PKB_ERR_IO:
    case PKB_ERR_MEMORY:
    case PKB_ERR_FORMAT:
    case PKB_ERR_CHILD:
    case PKB_ERR_TIMEOUT:
    case PKB_ERR_CUDA:
    case PKB_ERR_MISSING:
        return 3;
    }
    return 3;
}
