/* SPDX-License-Identifier: Apache-2.0
 *
 * The address plan, the device heap and foreign memory.
 */
#include "harness/cpu/cudart/pkb_cpu.h"
#include "harness/cpu/device/heap.h"
#include "harness/cpu/device/window.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static int signal_of_read(uint64_t address)
{
    int status = 0;
    pid_t child = fork();

    if (child == 0) {
        signal(SIGSEGV, SIG_DFL);
        _exit(*(volatile char *)(uintptr_t)address);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void window_is_aligned_and_apart_from_its_backing(void **state)
{
    (void)state;
    assert_int_equal(pkb_window_base % (1ull << 32), 0);
    assert_int_equal(pkb_shared_range % (1ull << 32), 0);
    assert_true(pkb_window_delta >= pkb_window_bytes || -pkb_window_delta >= pkb_window_bytes);
}

static void allocations_are_aligned_zeroed_and_usable(void **state)
{
    uint64_t a = 0, b = 0;

    (void)state;
    assert_true(pkb_heap_allocate(1000, &a));
    assert_true(pkb_heap_allocate(1, &b));
    assert_int_equal(a % 256, 0);
    assert_int_equal(b % 256, 0);
    const char *bytes = pkb_window_translate(a);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(bytes[i], 0);
    memset(pkb_window_translate(a), 7, 1000);
    assert_null(pkb_heap_find_overrun());
    assert_true(pkb_heap_free(a));
    assert_true(pkb_heap_free(b));
}

static void device_pointer_faults_in_host_code(void **state)
{
    uint64_t a = 0;

    (void)state;
    assert_true(pkb_heap_allocate(4096, &a));
    assert_int_equal(signal_of_read(a), SIGSEGV);
    assert_int_equal(signal_of_read(a + pkb_window_delta), 0);
    assert_true(pkb_heap_free(a));
}

static void page_behind_an_allocation_faults(void **state)
{
    uint64_t a = 0;

    (void)state;
    assert_true(pkb_heap_allocate(512, &a));
    assert_int_equal(signal_of_read(a + pkb_window_delta + 511), 0);
    assert_int_equal(signal_of_read(a + pkb_window_delta + 512), SIGSEGV);
    assert_true(pkb_heap_free(a));
}

static void freed_memory_faults_and_comes_back_zeroed_elsewhere(void **state)
{
    uint64_t a = 0, b = 0;

    (void)state;
    assert_true(pkb_heap_allocate(4096, &a));
    assert_true(pkb_heap_free(a));
    assert_int_equal(signal_of_read(a + pkb_window_delta), SIGSEGV);
    assert_true(pkb_heap_allocate(4096, &b));
    assert_int_not_equal(a, b);
    assert_true(pkb_heap_free(b));
    assert_false(pkb_heap_free(b));
    assert_false(pkb_heap_free(b + 256));
}

static void small_overrun_shows_in_the_red_zone(void **state)
{
    uint64_t a = 0;

    (void)state;
    assert_true(pkb_heap_allocate(100, &a));
    ((char *)pkb_window_translate(a))[100] = 1;
    const pkb_allocation *hit = pkb_heap_find_overrun();
    assert_non_null(hit);
    assert_int_equal(hit->address, a);
    assert_true(pkb_heap_free(a));
    assert_null(pkb_heap_find_overrun());
}

static void limit_is_respected(void **state)
{
    uint64_t before = pkb_heap_limit(), a = 0, b = 0;

    (void)state;
    pkb_heap_set_limit(1 << 20);
    assert_true(pkb_heap_allocate(1 << 19, &a));
    assert_false(pkb_heap_allocate((1 << 19) + 1, &b));
    assert_false(pkb_heap_allocate(~0ull, &b));
    assert_false(pkb_heap_allocate(0, &b));
    assert_int_equal(pkb_heap_used(), 1 << 19);
    assert_true(pkb_heap_free(a));
    pkb_heap_set_limit(before);
}

static void many_allocations_stay_apart(void **state)
{
    enum { COUNT = 300 };
    static uint64_t at[COUNT];

    (void)state;
    for (uint64_t round = 0; round < 3; round++) {
        for (uint64_t i = 0; i < COUNT; i++) {
            assert_true(pkb_heap_allocate(i * 37 + 1, &at[i]));
            memset(pkb_window_translate(at[i]), (int)i, i * 37 + 1);
        }
        for (uint64_t i = 0; i < COUNT; i++) {
            const pkb_allocation *found = pkb_heap_find(at[i] + i * 37);
            assert_non_null(found);
            assert_int_equal(found->address, at[i]);
            assert_null(pkb_heap_find(at[i] + i * 37 + 1));
            assert_int_equal(*(unsigned char *)pkb_window_translate(at[i]), i & 0xff);
        }
        for (uint64_t i = 0; i < COUNT; i++)
            assert_true(pkb_heap_free(at[i * 7 % COUNT]));
    }
    assert_int_equal(pkb_heap_used(), 0);
}

static void foreign_memory_is_shared_and_can_be_taken_away(void **state)
{
    int fd = memfd_create("region", MFD_CLOEXEC);
    uint64_t address = 0;

    (void)state;
    assert_int_equal(ftruncate(fd, 8192), 0);
    assert_int_equal(pkb_cpu_reserve(8192, &address), 0);
    assert_int_equal(address % 4096, 0);
    assert_false(pkb_window_is_accessible(address, 1));
    assert_int_equal(pkb_cpu_map(address, fd, 0, 8192, 1), 0);
    char *other = mmap(NULL, 8192, PROT_READ, MAP_SHARED, fd, 0);
    memcpy(pkb_cpu_host_address(address + 4096), "here", 5);
    assert_string_equal(other + 4096, "here");
    assert_true(pkb_window_is_accessible(address + 100, 8092));
    assert_false(pkb_window_is_accessible(address + 100, 8093));
    assert_int_equal(signal_of_read(address), SIGSEGV);
    assert_int_equal(pkb_cpu_unmap(address, 4096), 0);
    assert_false(pkb_window_is_accessible(address, 1));
    assert_true(pkb_window_is_accessible(address + 4096, 4096));
    assert_int_equal(signal_of_read(address + pkb_window_delta), SIGSEGV);
    assert_string_equal(pkb_cpu_host_address(address + 4096), "here");
    close(fd);
}

static void foreign_ranges_are_checked(void **state)
{
    uint64_t address = 0, heap = 0;

    (void)state;
    assert_int_equal(pkb_cpu_reserve(0, &address), EINVAL);
    assert_int_equal(pkb_cpu_reserve(pkb_window_bytes, &address), ENOMEM);
    assert_int_equal(pkb_cpu_map(address, -1, 0, 4096, 1), EINVAL);
    assert_true(pkb_heap_allocate(4096, &heap));
    assert_int_equal(pkb_cpu_map(heap, -1, 0, 4096, 1), EINVAL);
    assert_int_equal(pkb_cpu_unmap(heap, 4096), EINVAL);
    assert_null(pkb_cpu_host_address(4096));
    assert_true(pkb_heap_free(heap));
}

static void read_only_mapping_refuses_writes(void **state)
{
    int fd = memfd_create("region", MFD_CLOEXEC), status = 0;
    uint64_t address = 0;

    (void)state;
    assert_int_equal(ftruncate(fd, 4096), 0);
    assert_int_equal(pkb_cpu_reserve(4096, &address), 0);
    assert_int_equal(pkb_cpu_map(address, fd, 0, 4096, 0), 0);
    pid_t child = fork();
    if (child == 0) {
        signal(SIGSEGV, SIG_DFL);
        *(volatile char *)pkb_cpu_host_address(address) = 1;
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
    close(fd);
}

static void shared_windows_are_all_usable_once(void **state)
{
    static uint32_t taken[PKB_SHARED_WINDOWS];
    uint32_t index = 0, count = pkb_shared_free_count();

    (void)state;
    for (uint32_t i = 0; i < count; i++)
        assert_true(pkb_shared_take(&taken[i]));
    assert_false(pkb_shared_take(&index));
    for (uint32_t i = 0; i < count; i++)
        pkb_shared_give(taken[i]);
    assert_int_equal(pkb_shared_free_count(), count);
}

static int open_device(void **state)
{
    (void)state;
    return pkb_window_open(NULL) != PKB_OK;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(window_is_aligned_and_apart_from_its_backing),
        cmocka_unit_test(allocations_are_aligned_zeroed_and_usable),
        cmocka_unit_test(device_pointer_faults_in_host_code),
        cmocka_unit_test(page_behind_an_allocation_faults),
        cmocka_unit_test(freed_memory_faults_and_comes_back_zeroed_elsewhere),
        cmocka_unit_test(small_overrun_shows_in_the_red_zone),
        cmocka_unit_test(limit_is_respected),
        cmocka_unit_test(many_allocations_stay_apart),
        cmocka_unit_test(foreign_memory_is_shared_and_can_be_taken_away),
        cmocka_unit_test(foreign_ranges_are_checked),
        cmocka_unit_test(read_only_mapping_refuses_writes),
        cmocka_unit_test(shared_windows_are_all_usable_once),
    };
    return cmocka_run_group_tests(tests, open_device, NULL);
}
