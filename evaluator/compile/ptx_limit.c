/* SPDX-License-Identifier: Apache-2.0
 *
 * Measures PTX; see ptx_limit.h.
 */
#include "evaluator/compile/ptx_limit.h"

#include <ctype.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fs.h"

#define LIMIT_BYTES ((uint64_t)PKB_PTX_LIMIT_MIB << 20)

bool pkb_ptx_is_too_large(const char *path, pkb_buf *reason)
{
    struct stat status;
    if (stat(path, &status) != 0 || (uint64_t)status.st_size <= LIMIT_BYTES)
        return false;
    pkb_buf_printf(reason, "the PTX has more than %d MiB, the most that the CPU device takes",
                   PKB_PTX_LIMIT_MIB);
    return true;
}

/* The element count in front of `at`, where "] = {" stands; 0 = none. Kept small enough to add. */
static uint64_t count_before(const char *text, const char *at)
{
    const char *digit = at;
    while (digit > text && isdigit((unsigned char)digit[-1]))
        digit--;
    if (digit == text || digit[-1] != '[')
        return 0;
    uint64_t count = strtoull(digit, NULL, 10);
    return count < UINT64_C(1) << 40 ? count : UINT64_C(1) << 40;
}

bool pkb_ptx_has_large_arrays(const char *path, pkb_buf *reason)
{
    static const char mark[] = "] = {";
    uint64_t count = 0; /* of elements, nearly always bytes */
    size_t bytes = 0;
    char *text = NULL;

    if (pkb_fs_read(path, LIMIT_BYTES, &text, &bytes, NULL) != PKB_OK)
        return false; /* the translator says why */
    for (const char *at = text; count <= LIMIT_BYTES && (at = strstr(at, mark)) != NULL; at++)
        count += count_before(text, at);
    free(text);
    if (count <= LIMIT_BYTES)
        return false;
    pkb_buf_printf(reason,
                   "initialised __device__ or __constant__ variables have more than %d MiB, the "
                   "most that the CPU device takes; fill them in pkb_setup instead",
                   PKB_PTX_LIMIT_MIB);
    return true;
}
