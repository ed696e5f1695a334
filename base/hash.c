/* SPDX-License-Identifier: Apache-2.0
 *
 * SHA-256 through OpenSSL's libcrypto; see hash.h.
 */
#include "base/hash.h"

#include <errno.h>
#include <openssl/evp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

struct pkb_hash {
    EVP_MD_CTX *context;
    int has_failed; /* reported once, at the end */
};

pkb_code pkb_hash_create(pkb_hash **out, pkb_error *err)
{
    pkb_hash *hash = calloc(1, sizeof *hash);
    if (hash != NULL)
        hash->context = EVP_MD_CTX_new();
    if (hash == NULL || hash->context == NULL ||
        EVP_DigestInit_ex(hash->context, EVP_sha256(), NULL) != 1) {
        pkb_hash_free(hash);
        return pkb_error_set(err, PKB_ERR_MEMORY, 0, "cannot start a SHA-256");
    }
    *out = hash;
    return PKB_OK;
}

static void update(pkb_hash *hash, const void *data, size_t bytes)
{
    if (EVP_DigestUpdate(hash->context, data, bytes) != 1)
        hash->has_failed = 1;
}

void pkb_hash_add(pkb_hash *hash, const void *data, size_t bytes)
{
    uint64_t length = bytes;
    update(hash, &length, sizeof length);
    update(hash, data, bytes);
}

void pkb_hash_add_text(pkb_hash *hash, const char *text)
{
    pkb_hash_add(hash, text, strlen(text));
}

pkb_code pkb_hash_add_file(pkb_hash *hash, const char *path, pkb_error *err)
{
    pkb_code rc = PKB_OK;
    char chunk[65536];
    uint64_t length = 0;

    FILE *file = fopen(path, "rbe");
    if (file == NULL)
        return pkb_error_set_errno(err, PKB_ERR_IO, "cannot open %s", path);
    for (size_t got; (got = fread(chunk, 1, sizeof chunk, file)) > 0; length += got)
        update(hash, chunk, got);
    if (ferror(file))
        rc = pkb_error_set_errno(err, PKB_ERR_IO, "cannot read %s", path);
    update(hash, &length, sizeof length);
    fclose(file);
    return rc;
}

static void to_hex(const unsigned char *digest, size_t bytes, char *hex)
{
    for (size_t i = 0; i < bytes; i++)
        snprintf(hex + 2 * i, 3, "%02x", digest[i]);
}

pkb_code pkb_hash_finish(pkb_hash *hash, char hex[PKB_HASH_HEX_BYTES], pkb_error *err)
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned int bytes = 0;
    int ok = !hash->has_failed && EVP_DigestFinal_ex(hash->context, digest, &bytes) == 1;
    pkb_hash_free(hash);
    if (!ok)
        return pkb_error_set(err, PKB_ERR_IO, 0, "SHA-256 failed");
    to_hex(digest, bytes, hex);
    return PKB_OK;
}

void pkb_hash_free(pkb_hash *hash)
{
    if (hash == NULL)
        return;
    EVP_MD_CTX_free(hash->context);
    free(hash);
}

pkb_code pkb_hash_bytes(const void *data, size_t bytes, char hex[PKB_HASH_HEX_BYTES],
                        pkb_error *err)
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned int digest_bytes = 0;
    if (EVP_Digest(data, bytes, digest, &digest_bytes, EVP_sha256(), NULL) != 1)
        return pkb_error_set(err, PKB_ERR_IO, 0, "SHA-256 failed");
    to_hex(digest, digest_bytes, hex);
    return PKB_OK;
}

pkb_code pkb_random_bytes(void *out, size_t bytes, pkb_error *err)
{
    unsigned char *at = out;
    while (bytes > 0) {
        ssize_t got = getrandom(at, bytes, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return pkb_error_set_errno(err, PKB_ERR_IO, "no random bytes from the kernel");
        at += got;
        bytes -= (size_t)got;
    }
    return PKB_OK;
}
