/* SPDX-License-Identifier: Apache-2.0
 *
 * Whole messages, with descriptors, between processes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "harness/sandbox/message.h"
#include "tests/unit/hung.h"

static int make(void **state)
{
    return pkb_message_create((pkb_message **)state, NULL) == PKB_OK ? 0 : -1;
}

static int drop(void **state)
{
    pkb_message_free(*state);
    return 0;
}

static void a_message_arrives_whole_with_its_descriptors(void **state)
{
    pkb_message *message = *state;
    struct stat sent, got;
    int pair[2];

    assert_int_equal(pkb_socket_pair(pair, 0, NULL), PKB_OK);
    int fds[] = {open("/dev/null", O_RDONLY | O_CLOEXEC), open("/dev/zero", O_RDONLY | O_CLOEXEC)};
    assert_int_equal(pkb_message_send(pair[1], "hello", 5, fds, 2, NULL), PKB_OK);
    assert_int_equal(pkb_message_send(pair[1], "again", 5, NULL, 0, NULL), PKB_OK);
    assert_int_equal(pkb_message_receive(pair[0], message, PKB_TEST_HUNG_NS, NULL), PKB_OK);
    assert_string_equal(message->data, "hello");
    assert_int_equal(message->fd_count, 2);
    fstat(fds[1], &sent);
    fstat(message->fds[1], &got);
    assert_true(sent.st_ino == got.st_ino && sent.st_rdev == got.st_rdev);
    assert_true(fcntl(message->fds[0], F_GETFD) & FD_CLOEXEC);
    assert_int_equal(message->pid, 0);
    int untaken = message->fds[0];
    assert_int_equal(pkb_message_receive(pair[0], message, PKB_TEST_HUNG_NS, NULL), PKB_OK);
    assert_string_equal(message->data, "again");
    assert_int_equal(fcntl(untaken, F_GETFD), -1);
    for (int i = 0; i < 2; i++) {
        close(pair[i]);
        close(fds[i]);
    }
}

static void the_largest_message_fits_and_a_larger_one_is_refused(void **state)
{
    pkb_message *message = *state;
    char *data = calloc(1, PKB_MESSAGE_BYTES + 1);
    int fds[PKB_MESSAGE_FDS], pair[2];

    memset(data, 'x', PKB_MESSAGE_BYTES);
    for (int i = 0; i < PKB_MESSAGE_FDS; i++)
        fds[i] = STDERR_FILENO;
    assert_int_equal(pkb_socket_pair(pair, 0, NULL), PKB_OK);
    assert_int_equal(pkb_message_send(pair[1], data, PKB_MESSAGE_BYTES, fds, PKB_MESSAGE_FDS, NULL),
                     PKB_OK);
    assert_int_equal(pkb_message_receive(pair[0], message, PKB_TEST_HUNG_NS, NULL), PKB_OK);
    assert_int_equal(message->bytes, PKB_MESSAGE_BYTES);
    assert_int_equal(message->fd_count, PKB_MESSAGE_FDS);
    assert_int_equal(strlen(message->data), PKB_MESSAGE_BYTES);
    assert_int_equal(pkb_message_send(pair[1], data, PKB_MESSAGE_BYTES + 1, NULL, 0, NULL),
                     PKB_ERR_USAGE);
    assert_int_equal(pkb_message_send(pair[1], data, 0, NULL, 0, NULL), PKB_ERR_USAGE);
    close(pair[0]);
    close(pair[1]);
    free(data);
}

static void a_hostile_packet_is_an_error_not_an_overflow(void **state)
{
    pkb_message *message = *state;
    const int bytes = 400000;
    char *data = calloc(1, (size_t)bytes);
    int pair[2];

    assert_int_equal(pkb_socket_pair(pair, 0, NULL), PKB_OK);
    setsockopt(pair[1], SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
    assert_int_equal(send(pair[1], data, PKB_MESSAGE_BYTES + 1000, 0), PKB_MESSAGE_BYTES + 1000);
    assert_int_equal(pkb_message_receive(pair[0], message, PKB_TEST_HUNG_NS, NULL), PKB_ERR_FORMAT);
    close(pair[0]);
    close(pair[1]);
    free(data);
}

static void the_kernel_tells_who_sent(void **state)
{
    pkb_message *message = *state;
    int pair[2];

    assert_int_equal(pkb_socket_pair(pair, 1, NULL), PKB_OK);
    pid_t child = fork();
    if (child == 0) {
        pkb_message_send(pair[1], "hello", 5, NULL, 0, NULL);
        _exit(0);
    }
    assert_int_equal(pkb_message_receive(pair[0], message, PKB_TEST_HUNG_NS, NULL), PKB_OK);
    assert_int_equal(message->pid, child);
    assert_int_equal(message->uid, getuid());
    waitpid(child, NULL, 0);
    close(pair[0]);
    close(pair[1]);
}

static void silence_and_departure_are_told_apart(void **state)
{
    pkb_message *message = *state;
    int pair[2];

    assert_int_equal(pkb_socket_pair(pair, 0, NULL), PKB_OK);
    assert_int_equal(pkb_message_receive(pair[0], message, 20 * PKB_NS_PER_MS, NULL),
                     PKB_ERR_TIMEOUT);
    close(pair[1]);
    assert_int_equal(pkb_message_receive(pair[0], message, PKB_TEST_HUNG_NS, NULL), PKB_ERR_CHILD);
    assert_int_equal(pkb_message_send(pair[0], "x", 1, NULL, 0, NULL), PKB_ERR_CHILD);
    close(pair[0]);
}

static void connecting_waits_for_the_listener(void **state)
{
    pkb_message *message = *state;
    char folder[] = "/tmp/pkb-test-XXXXXX", path[64];
    pkb_error err = {0};
    int listener = -1, peer = -1, fd = -1;
    pid_t pid = 0;

    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/s", folder);
    assert_int_equal(pkb_socket_connect(&fd, path, 20 * PKB_NS_PER_MS, &err), PKB_ERR_TIMEOUT);
    pid_t child = fork();
    if (child == 0) {
        if (pkb_socket_connect(&fd, path, PKB_TEST_HUNG_NS, NULL) == PKB_OK)
            pkb_message_send(fd, "here", 4, NULL, 0, NULL);
        _exit(0);
    }
    pkb_clock_sleep_ns(30 * PKB_NS_PER_MS);
    assert_int_equal(pkb_socket_listen(&listener, path, &err), PKB_OK);
    assert_int_equal(pkb_socket_accept(&peer, listener, PKB_TEST_HUNG_NS, &pid, &err), PKB_OK);
    assert_int_equal(pid, child);
    assert_int_equal(pkb_message_receive(peer, message, PKB_TEST_HUNG_NS, NULL), PKB_OK);
    assert_string_equal(message->data, "here");
    assert_int_equal(pkb_socket_accept(&fd, listener, 10 * PKB_NS_PER_MS, NULL, &err),
                     PKB_ERR_TIMEOUT);
    waitpid(child, NULL, 0);
    close(peer);
    close(listener);
    unlink(path);
    rmdir(folder);
}

static void a_path_too_long_for_a_socket_is_named(void **state)
{
    char path[200];
    pkb_error err = {0};
    int fd;
    (void)state;

    memset(path, 'a', sizeof path - 1);
    path[sizeof path - 1] = '\0';
    assert_int_equal(pkb_socket_listen(&fd, path, &err), PKB_ERR_USAGE);
    assert_non_null(strstr(err.message, "PKBENCH_TMPDIR"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_message_arrives_whole_with_its_descriptors, make, drop),
        cmocka_unit_test_setup_teardown(the_largest_message_fits_and_a_larger_one_is_refused, make,
                                        drop),
        cmocka_unit_test_setup_teardown(a_hostile_packet_is_an_error_not_an_overflow, make, drop),
        cmocka_unit_test_setup_teardown(the_kernel_tells_who_sent, make, drop),
        cmocka_unit_test_setup_teardown(silence_and_departure_are_told_apart, make, drop),
        cmocka_unit_test_setup_teardown(connecting_waits_for_the_listener, make, drop),
        cmocka_unit_test(a_path_too_long_for_a_socket_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
