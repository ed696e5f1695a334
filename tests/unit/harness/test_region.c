/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared memory that nobody can take away.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/memory/region.h"

static const size_t region_bytes = 1 << 20;

static void a_region_is_zero_and_sparse(void **state)
{
    pkb_region region = PKB_REGION_NONE;
    struct stat facts;
    (void)state;

    assert_int_equal(pkb_region_create(&region, "test", (size_t)64 << 30, NULL), PKB_OK);
    const char *bytes = region.address;
    assert_int_equal(bytes[0], 0);
    assert_int_equal(bytes[region.bytes - 1], 0);
    assert_int_equal(fstat(region.fd, &facts), 0);
    assert_true(facts.st_blocks < 64);
    pkb_region_clear(&region);
    assert_int_equal(region.fd, -1);
    assert_null(region.address);
}

static void a_region_cannot_change_its_size(void **state)
{
    pkb_region region = PKB_REGION_NONE;
    (void)state;

    assert_int_equal(pkb_region_create(&region, "test", region_bytes, NULL), PKB_OK);
    assert_int_equal(ftruncate(region.fd, 0), -1);
    assert_int_equal(errno, EPERM);
    assert_int_equal(ftruncate(region.fd, (off_t)(2 * region_bytes)), -1);
    assert_int_equal(fcntl(region.fd, F_ADD_SEALS, F_SEAL_WRITE), -1);
    pkb_region_clear(&region);
}

static void both_holders_see_one_memory(void **state)
{
    pkb_region made = PKB_REGION_NONE, adopted = PKB_REGION_NONE;
    (void)state;

    assert_int_equal(pkb_region_create(&made, "test", region_bytes, NULL), PKB_OK);
    assert_int_equal(pkb_region_adopt(&adopted, dup(made.fd), region_bytes, NULL), PKB_OK);
    memcpy(made.address, "hello", sizeof "hello");
    assert_string_equal(adopted.address, "hello");
    pkb_region_clear(&made);
    assert_string_equal(adopted.address, "hello");
    pkb_region_clear(&adopted);
}

static void a_read_only_mapping_stays_read_only(void **state)
{
    pkb_region made = PKB_REGION_NONE, reader = PKB_REGION_NONE;
    (void)state;

    assert_int_equal(pkb_region_create(&made, "test", region_bytes, NULL), PKB_OK);
    assert_int_equal(pkb_region_adopt_read_only(&reader, dup(made.fd), region_bytes, NULL), PKB_OK);
    assert_int_equal(mprotect(reader.address, region_bytes, PROT_READ | PROT_WRITE), -1);
    assert_int_equal(errno, EACCES);
    pkb_region_clear(&reader);
    pkb_region_clear(&made);
}

static void unsealed_or_wrongly_sized_files_are_refused(void **state)
{
    pkb_region region = PKB_REGION_NONE, made = PKB_REGION_NONE;
    int fd = memfd_create("unsealed", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    (void)state;

    assert_int_equal(ftruncate(fd, (off_t)region_bytes), 0);
    assert_int_equal(pkb_region_adopt(&region, fd, region_bytes, NULL), PKB_ERR_FORMAT);
    assert_int_equal(close(fd), -1); /* it was taken over */
    assert_int_equal(pkb_region_create(&made, "test", region_bytes, NULL), PKB_OK);
    assert_int_equal(pkb_region_adopt(&region, dup(made.fd), region_bytes - 1, NULL),
                     PKB_ERR_FORMAT);
    assert_int_equal(pkb_region_create(&region, "test", 0, NULL), PKB_ERR_USAGE);
    assert_int_equal(region.fd, -1);
    pkb_region_clear(&made);
}

static void discarded_pages_read_zero(void **state)
{
    pkb_region region = PKB_REGION_NONE;
    (void)state;

    assert_int_equal(pkb_region_create(&region, "test", region_bytes, NULL), PKB_OK);
    memset(region.address, 0xff, region_bytes);
    assert_int_equal(pkb_region_used_bytes(&region), region_bytes);
    assert_int_equal(pkb_region_discard(&region, NULL), PKB_OK);
    assert_int_equal(pkb_region_used_bytes(&region), 0);
    assert_int_equal(((char *)region.address)[region_bytes - 1], 0);
    pkb_region_clear(&region);
}

static void python_maps_no_more_than_there_is(void **state)
{
    pkb_region region = PKB_REGION_NONE;
    (void)state;

    assert_int_equal(pkb_region_create(&region, "test", region_bytes, NULL), PKB_OK);
    char *address = pkb_region_map(region.fd, region_bytes);
    assert_non_null(address);
    address[5] = 'x';
    assert_int_equal(((char *)region.address)[5], 'x');
    assert_int_equal(pkb_region_unmap(address, region_bytes), 0);
    assert_null(pkb_region_map(region.fd, 2 * region_bytes));
    assert_int_equal(errno, EINVAL);
    assert_null(pkb_region_map(-1, region_bytes));
    pkb_region_clear(&region);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_region_is_zero_and_sparse),
        cmocka_unit_test(a_region_cannot_change_its_size),
        cmocka_unit_test(both_holders_see_one_memory),
        cmocka_unit_test(a_read_only_mapping_stays_read_only),
        cmocka_unit_test(unsealed_or_wrongly_sized_files_are_refused),
        cmocka_unit_test(discarded_pages_read_zero),
        cmocka_unit_test(python_maps_no_more_than_there_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
