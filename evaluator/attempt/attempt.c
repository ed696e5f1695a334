/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads an attempt; see attempt.h.
 */
#include "evaluator/attempt/attempt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fs.h"

/* nvcc's kept files are named after the source, and its messages quote the name. */
static void choose_name(pkb_attempt *attempt, const char *path)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    size_t length = strlen(name);

    bool is_fine = length > 3 && length < sizeof attempt->file_name && name[0] != '-' &&
                   name[0] != '.' && strspn(name, plain) == length &&
                   strcmp(name + length - 3, ".cu") == 0;
    snprintf(attempt->file_name, sizeof attempt->file_name, "%s", is_fine ? name : "attempt.cu");
}

static pkb_code complain_of_length(const char *path, long long bytes, pkb_error *err)
{
    return pkb_error_set(err, PKB_ERR_USAGE, 0,
                         "%s has %lld bytes, and an attempt may have %d at most", path, bytes,
                         PKB_ATTEMPT_LIMIT_BYTES);
}

static pkb_code check_file(const char *path, pkb_error *err)
{
    struct stat status;
    if (stat(path, &status) != 0)
        return PKB_OK; /* opening it says why */
    if (S_ISDIR(status.st_mode))
        return pkb_error_set(err, PKB_ERR_USAGE, 0, "%s is a directory; name a .cu file in it",
                             path);
    if (S_ISREG(status.st_mode) && status.st_size > PKB_ATTEMPT_LIMIT_BYTES)
        return complain_of_length(path, (long long)status.st_size, err);
    return PKB_OK;
}

/* What follows from the source. */
static pkb_code describe(pkb_attempt *attempt, const char *path, pkb_error *err)
{
    if (memchr(attempt->source, '\0', attempt->bytes) != NULL)
        return pkb_error_set(err, PKB_ERR_USAGE, 0,
                             "%s is no text (it has NUL bytes); an attempt is CUDA source", path);
    attempt->is_blank = strspn(attempt->source, " \t\r\n\v\f\xef\xbb\xbf") == attempt->bytes;
    choose_name(attempt, path);
    return pkb_hash_bytes(attempt->source, attempt->bytes, attempt->sha256, err);
}

pkb_code pkb_attempt_read(pkb_attempt *out, const char *path, pkb_error *err)
{
    pkb_attempt attempt = {0};
    pkb_code rc = check_file(path, err);

    if (rc == PKB_OK)
        rc = pkb_fs_read(path, PKB_ATTEMPT_LIMIT_BYTES, &attempt.source, &attempt.bytes, err);
    if (rc == PKB_OK)
        rc = describe(&attempt, path, err);
    if (rc != PKB_OK) {
        pkb_attempt_clear(&attempt);
        return rc;
    }
    *out = attempt;
    return PKB_OK;
}

pkb_code pkb_attempt_copy(pkb_attempt *out, const char *path, const char *source, size_t bytes,
                          pkb_error *err)
{
    pkb_attempt attempt = {.bytes = bytes};

    if (bytes > PKB_ATTEMPT_LIMIT_BYTES)
        return complain_of_length(path, (long long)bytes, err);
    attempt.source = malloc(bytes + 1);
    if (attempt.source == NULL)
        return pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for the source of an attempt");
    memcpy(attempt.source, source, bytes);
    attempt.source[bytes] = '\0';
    const pkb_code rc = describe(&attempt, path, err);
    if (rc != PKB_OK) {
        pkb_attempt_clear(&attempt);
        return rc;
    }
    *out = attempt;
    return PKB_OK;
}

void pkb_attempt_clear(pkb_attempt *attempt)
{
    free(attempt->source);
    *attempt = (pkb_attempt){0};
}
