/* SPDX-License-Identifier: Apache-2.0
 *
 * base/hash.c against published digests.
 */
#include "base/hash.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void plain_digest_is_that_of_sha256sum(void **state)
{
    (void)state;
    char hex[PKB_HASH_HEX_BYTES];
    assert_int_equal(pkb_hash_bytes("abc", 3, hex, NULL), PKB_OK);
    assert_string_equal(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

static void digest_of(const char *first, const char *second, char hex[PKB_HASH_HEX_BYTES])
{
    pkb_hash *hash = NULL;
    assert_int_equal(pkb_hash_create(&hash, NULL), PKB_OK);
    pkb_hash_add_text(hash, first);
    pkb_hash_add_text(hash, second);
    assert_int_equal(pkb_hash_finish(hash, hex, NULL), PKB_OK);
}

static void pieces_do_not_run_together(void **state)
{
    (void)state;
    char one[PKB_HASH_HEX_BYTES], two[PKB_HASH_HEX_BYTES], again[PKB_HASH_HEX_BYTES];
    digest_of("ab", "c", one);
    digest_of("a", "bc", two);
    digest_of("ab", "c", again);
    assert_string_not_equal(one, two);
    assert_string_equal(one, again);
}

static void missing_file_is_an_error(void **state)
{
    (void)state;
    pkb_hash *hash = NULL;
    pkb_error err = {0};
    assert_int_equal(pkb_hash_create(&hash, NULL), PKB_OK);
    assert_int_equal(pkb_hash_add_file(hash, "/no/such/file", &err), PKB_ERR_IO);
    assert_non_null(strstr(err.message, "/no/such/file"));
    pkb_hash_free(hash);
}

static void random_bytes_differ(void **state)
{
    (void)state;
    unsigned char one[32] = {0}, two[32] = {0};
    assert_int_equal(pkb_random_bytes(one, sizeof one, NULL), PKB_OK);
    assert_int_equal(pkb_random_bytes(two, sizeof two, NULL), PKB_OK);
    assert_memory_not_equal(one, two, sizeof one);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_digest_is_that_of_sha256sum),
        cmocka_unit_test(pieces_do_not_run_together),
        cmocka_unit_test(missing_file_is_an_error),
        cmocka_unit_test(random_bytes_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
