/* SPDX-License-Identifier: Apache-2.0
 *
 * Looks for words in the built files; see evidence.h.
 */
#include "harness/judge/evidence.h"

#include <stdlib.h>
#include <string.h>

#include "base/fs.h"

enum { FILE_LIMIT_BYTES = 256 * 1024 * 1024 };

static bool file_holds(const char *path, const char *word)
{
    char *content = NULL;
    size_t bytes = 0;
    bool is_there = false;

    if (word[0] != '\0' && pkb_fs_read(path, FILE_LIMIT_BYTES, &content, &bytes, NULL) == PKB_OK)
        is_there = memmem(content, bytes, word, strlen(word)) != NULL;
    free(content);
    return is_there;
}

/* What follows `lead` in `text`; NULL if it is not there. */
static const char *after(const char *text, const char *lead)
{
    const char *found = strstr(text, lead);
    return found == NULL ? NULL : found + strlen(lead);
}

bool pkb_evidence_is_unsupported(const char *text, const char *host_path, const char *device_path)
{
    const char *what = after(text, "does not support ");
    const char *call = what == NULL ? NULL : after(what, "the CUDA call ");

    if (what == NULL)
        return false;
    if (call != NULL)
        return file_holds(host_path, call);
    if (strncmp(what, "clusters", strlen("clusters")) == 0)
        return file_holds(host_path, "cudaLaunchKernelEx") ||
               file_holds(host_path, ".reqnctapercluster");
    return file_holds(device_path, what);
}
