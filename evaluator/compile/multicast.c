/* SPDX-License-Identifier: Apache-2.0
 *
 * Looks for multicast in a build; see multicast.h.
 */
#include "evaluator/compile/multicast.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"

enum { LIMIT_BYTES = 256 << 20 };

static bool is_of_name(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '.';
}

/* The first name in the file that begins with `start` goes into `name`. */
static bool find_name(const char *path, const char *start, pkb_buf *name)
{
    const size_t length = strlen(start);
    char *content = NULL;
    size_t bytes = 0;
    bool is_found = false;

    if (path == NULL || pkb_fs_read(path, LIMIT_BYTES, &content, &bytes, NULL) != PKB_OK)
        return false;
    for (const char *at = content, *end = content + bytes; !is_found && at < end; at++) {
        at = memmem(at, (size_t)(end - at), start, length);
        if (at == NULL)
            break;
        is_found = at == content || !is_of_name(at[-1]);
        for (const char *c = at; is_found && is_of_name(*c); c++)
            pkb_buf_append_byte(name, *c); /* pkb_fs_read leaves a NUL behind the last byte */
    }
    free(content);
    return is_found;
}

bool pkb_multicast_is_used(const char *ptx, const char *host, pkb_buf *reason)
{
    pkb_buf name = {0};
    bool is_used = find_name(ptx, "multimem.", &name) || find_name(host, "cuMulticast", &name);

    if (is_used)
        pkb_buf_printf(reason,
                       "it uses NVLink multicast (%s), which this session does not allow: it can "
                       "take the GPUs of a shared host out of service; read or write the peers one "
                       "by one with pkb_peer",
                       pkb_buf_text(&name));
    pkb_buf_clear(&name);
    return is_used;
}
