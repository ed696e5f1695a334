/* SPDX-License-Identifier: Apache-2.0
 *
 * Looks for words in the built files; see evidence.h.
 */
#include "harness/judge/evidence.h"

#include <stdlib.h>
#include <string.h>

#include "base/fs.h"

enum { FILE_LIMIT_BYTES = 256 * 1024 * 1024 };

/* Whether `word` stands in the bytes; `is_whole`: as a string of its own, between NULs. */
static bool holds(const char *content, size_t bytes, const char *word, bool is_whole)
{
    size_t length = strlen(word);
    for (const char *at = content, *end = content + bytes; at < end; at++) {
        at = memmem(at, (size_t)(end - at), word, length);
        if (at == NULL)
            return false;
        if (!is_whole || (at > content && at[-1] == '\0' && at[length] == '\0'))
            return true; /* pkb_fs_read leaves a NUL behind the last byte */
    }
    return false;
}

static bool file_holds(const char *path, const char *word, bool is_whole)
{
    char *content = NULL;
    size_t bytes = 0;
    bool is_there = false;

    if (path != NULL && word[0] != '\0' &&
        pkb_fs_read(path, FILE_LIMIT_BYTES, &content, &bytes, NULL) == PKB_OK)
        is_there = holds(content, bytes, word, is_whole);
    free(content);
    return is_there;
}

/* What follows `lead` in `text`; NULL if it is not there. */
static const char *after(const char *text, const char *lead)
{
    const char *found = strstr(text, lead);
    return found == NULL ? NULL : found + strlen(lead);
}

bool pkb_evidence_is_unsupported(const pkb_evidence *evidence, const char *text)
{
    const char *what = after(text, "does not support ");
    const char *call = what == NULL ? NULL : after(what, "the CUDA call ");

    if (what == NULL)
        return false;
    if (call != NULL)
        return file_holds(evidence->library_path, what, true) &&
               file_holds(evidence->host_path, call, true);
    if (strncmp(what, "clusters", strlen("clusters")) == 0)
        return file_holds(evidence->host_path, "cudaLaunchKernelExC", true) ||
               file_holds(evidence->host_path, ".reqnctapercluster", false);
    return strstr(what, " at ") != NULL && file_holds(evidence->device_path, what, true);
}
