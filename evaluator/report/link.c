/* SPDX-License-Identifier: Apache-2.0
 *
 * Relative links; see link.h.
 */
#include "evaluator/report/link.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const char unreserved[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                 "0123456789-._~/";

void pkb_link_encode(pkb_buf *out, const char *path)
{
    for (; *path != '\0'; path++)
        if (strchr(unreserved, *path) != NULL)
            pkb_buf_append_byte(out, *path);
        else
            pkb_buf_printf(out, "%%%02X", (unsigned char)*path);
}

static char *real_folder_of(const char *page, pkb_error *err)
{
    const char *slash = strrchr(page, '/');
    char *folder = slash == NULL   ? strdup(".")
                   : slash == page ? strdup("/")
                                   : strndup(page, (size_t)(slash - page));
    char *real = folder != NULL ? realpath(folder, NULL) : NULL;

    if (real == NULL)
        pkb_error_set_errno(err, PKB_ERR_DISK, "cannot write to the folder %s",
                            folder != NULL ? folder : page);
    free(folder);
    return real;
}

/* The bytes of both that are the same whole names. */
static size_t shared_bytes(const char *a, const char *b)
{
    size_t shared = 0, i = 0;

    for (; a[i] != '\0' && a[i] == b[i]; i++)
        if (a[i] == '/')
            shared = i;
    const bool ends_a = a[i] == '\0' || a[i] == '/', ends_b = b[i] == '\0' || b[i] == '/';
    return ends_a && ends_b ? i : shared;
}

pkb_code pkb_link_base(pkb_buf *out, const char *page, const char *folder, pkb_error *err)
{
    pkb_code rc = PKB_OK;
    char *to = NULL, *from = real_folder_of(page, err);

    if (from == NULL)
        return PKB_ERR_DISK;
    to = realpath(folder, NULL);
    if (to == NULL) {
        rc = pkb_error_set_errno(err, PKB_ERR_USAGE, "cannot find the folder %s", folder);
        goto cleanup;
    }
    const char *up = from + (strcmp(from, "/") == 0 ? 1 : 0);
    const char *down = to + (strcmp(to, "/") == 0 ? 1 : 0);
    const size_t shared = shared_bytes(up, down);
    const size_t start = out->bytes;
    for (const char *at = up + shared; *at != '\0'; at++)
        if (*at == '/')
            pkb_buf_append_string(out, "../");
    if (out->bytes == start)
        pkb_buf_append_string(out, "./");
    down += shared;
    down += *down == '/';
    pkb_link_encode(out, down);
    if (*down != '\0')
        pkb_buf_append_byte(out, '/');
cleanup:
    free(from);
    free(to);
    return rc;
}
