/* SPDX-License-Identifier: Apache-2.0
 *
 * GPU memory from process to process: made and exported here, filled by a child that imported it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "harness/cuda/driver_table.h"
#include "harness/cuda/gpu.h"
#include "harness/cuda/vmm.h"
#include "harness/sandbox/message.h"

enum { BYTES = (2 << 20) + 4096, PATTERN = 0x5a, TIMEOUT_S = 60 };

static int child_socket = -1;
static pid_t child_pid;
static pkb_driver *driver;
static pkb_gpus gpus;

static pkb_code fill(int fd, int device, pkb_error *err)
{
    pkb_driver *own = NULL;
    pkb_vmm_memory memory = {0};
    uint64_t address = 0;
    pkb_code rc = pkb_driver_open(&own, err);

    if (rc == PKB_OK)
        rc = pkb_driver_use(own, device, err);
    if (rc == PKB_OK)
        rc = pkb_vmm_import(&memory, own, device, fd, BYTES, err);
    if (rc == PKB_OK)
        rc = pkb_vmm_reserve(&address, own, device, BYTES, err);
    if (rc == PKB_OK)
        rc = pkb_vmm_map(own, &memory, address, &device, 1, err);
    if (rc != PKB_OK)
        return rc;
    pkb_vmm_release(own, &memory); /* the mapping keeps it */
    int result = (int)own->MemsetD8Async(address, PATTERN, BYTES, NULL);
    return result == CUDA_SUCCESS ? pkb_driver_synchronize(own, err)
                                  : pkb_driver_fail(own, err, result, "cannot fill");
}

/* The other process: started before the first call of the driver here. Messages: device, fd. */
static _Noreturn void serve(int socket_fd)
{
    pkb_message *message = NULL;
    pkb_error err = {0};

    if (pkb_message_create(&message, &err) != PKB_OK ||
        pkb_message_receive(socket_fd, message, TIMEOUT_S * PKB_NS_PER_S, &err) != PKB_OK ||
        message->fd_count != 1)
        _exit(1);
    if (fill(message->fds[0], message->data[0] - '0', &err) != PKB_OK)
        pkb_message_send(socket_fd, err.message, sizeof err.message, NULL, 0, NULL);
    else
        pkb_message_send(socket_fd, "", 1, NULL, 0, NULL);
    _exit(0);
}

static int fork_and_open(void **state)
{
    int pair[2];
    pkb_error err = {0};
    (void)state;

    if (pkb_socket_pair(pair, 0, NULL) != PKB_OK)
        return -1;
    child_pid = fork();
    if (child_pid == 0) {
        close(pair[0]);
        serve(pair[1]);
    }
    close(pair[1]);
    child_socket = pair[0];
    if (pkb_driver_open(&driver, &err) != PKB_OK || pkb_gpus_find(&gpus, driver, &err) != PKB_OK)
        print_message("no GPU here: %s\n", err.message);
    for (size_t i = 0; i < gpus.count; i++)
        print_message("GPU %zu: %s, %d, /dev/nvidia%d, %s, %s\n", i, gpus.items[i].name,
                      gpus.items[i].capability, gpus.items[i].minor, gpus.items[i].bus_id,
                      gpus.items[i].uuid);
    return 0;
}

static int close_all(void **state)
{
    (void)state;
    close(child_socket);
    waitpid(child_pid, NULL, 0);
    pkb_driver_close(driver);
    return 0;
}

static void memory_is_rounded_up_and_given_back(void **state)
{
    pkb_vmm_memory memory = {0};
    size_t before = 0, during = 0, after = 0, total = 0;
    uint64_t page = 0;
    (void)state;

    if (gpus.count == 0)
        skip();
    assert_int_equal(pkb_driver_use(driver, 0, NULL), PKB_OK);
    assert_int_equal(pkb_vmm_granularity(driver, 0, &page, NULL), PKB_OK);
    print_message("granularity %llu KiB\n", (unsigned long long)page >> 10);
    driver->MemGetInfo(&before, &total);
    assert_int_equal(pkb_vmm_create(&memory, driver, 0, ((uint64_t)1 << 30) + 1, NULL), PKB_OK);
    assert_int_equal(memory.bytes, ((uint64_t)1 << 30) + page);
    driver->MemGetInfo(&during, &total);
    assert_true(before - during >= (size_t)1 << 30);
    pkb_vmm_release(driver, &memory);
    driver->MemGetInfo(&after, &total);
    assert_int_equal(before, after);
}

static void the_impossible_is_said_in_words(void **state)
{
    pkb_vmm_memory memory = {0};
    pkb_error err = {0};
    (void)state;

    if (gpus.count == 0)
        skip();
    assert_int_equal(pkb_driver_use(driver, 0, NULL), PKB_OK);
    assert_int_equal(pkb_vmm_create(&memory, driver, 0, (uint64_t)1 << 42, &err), PKB_ERR_MEMORY);
    print_message("%s\n", err.message);
    assert_int_equal(pkb_vmm_create(&memory, driver, 0, 0, &err), PKB_ERR_MEMORY);
    assert_int_equal(pkb_driver_use(driver, 63, &err), PKB_ERR_USAGE);
}

static void another_process_fills_our_memory(void **state)
{
    pkb_vmm_memory memory = {0};
    pkb_message *message = NULL;
    const int device = 0;
    const char writer = gpus.count > 1 ? '1' : '0'; /* the peer's GPU, where there is one */
    static unsigned char got[BYTES];
    uint64_t address = 0;
    int fd = -1;
    pkb_error err = {0};
    (void)state;

    if (gpus.count == 0)
        skip();
    assert_int_equal(pkb_driver_use(driver, device, NULL), PKB_OK);
    assert_int_equal(pkb_vmm_create(&memory, driver, device, BYTES, NULL), PKB_OK);
    assert_int_equal(pkb_vmm_reserve(&address, driver, device, BYTES, NULL), PKB_OK);
    assert_int_equal(pkb_vmm_map(driver, &memory, address, &device, 1, NULL), PKB_OK);
    assert_int_equal(pkb_vmm_export(&fd, driver, &memory, NULL), PKB_OK);
    assert_int_equal(pkb_message_send(child_socket, &writer, 1, &fd, 1, NULL), PKB_OK);
    close(fd);
    assert_int_equal(pkb_message_create(&message, NULL), PKB_OK);
    if (pkb_message_receive(child_socket, message, TIMEOUT_S * PKB_NS_PER_S, &err) != PKB_OK)
        fail_msg("%s", err.message);
    if (message->data[0] != '\0')
        fail_msg("%s", message->data);
    assert_int_equal(driver->MemcpyDtoHAsync(got, address, BYTES, NULL), CUDA_SUCCESS);
    assert_int_equal(pkb_driver_synchronize(driver, NULL), PKB_OK);
    for (size_t i = 0; i < BYTES; i++)
        assert_int_equal(got[i], PATTERN);
    assert_int_equal(pkb_vmm_unmap(driver, &memory, address, NULL), PKB_OK);
    pkb_vmm_unreserve(driver, device, address, BYTES);
    pkb_vmm_release(driver, &memory);
    pkb_message_free(message);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_rounded_up_and_given_back),
        cmocka_unit_test(the_impossible_is_said_in_words),
        cmocka_unit_test(another_process_fills_our_memory),
    };
    return cmocka_run_group_tests(tests, fork_and_open, close_all);
}
