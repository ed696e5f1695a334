/* SPDX-License-Identifier: Apache-2.0
 *
 * Starting, watching and ending processes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "harness/sandbox/child.h"
#include "tests/unit/hung.h"

static pkb_code start_shell(pkb_child *child, const char *script, int stdout_fd, int fd3,
                            pkb_error *err)
{
    const char *const argv[] = {"sh", "-c", script, NULL};
    const pkb_child_fd fds[] = {{.from = fd3, .to = 3}};
    const pkb_child_options options = {.argv = argv,
                                       .stdin_fd = -1,
                                       .stdout_fd = stdout_fd,
                                       .stderr_fd = -1,
                                       .fds = fds,
                                       .fd_count = fd3 >= 0};
    return pkb_child_start(child, &options, err);
}

static pkb_child_exit run_shell(const char *script)
{
    pkb_child child = PKB_CHILD_NONE;
    pkb_child_exit how = {0};

    assert_int_equal(start_shell(&child, script, -1, -1, NULL), PKB_OK);
    assert_int_equal(pkb_child_wait(&child, PKB_TEST_HUNG_NS, &how, NULL), PKB_OK);
    assert_int_equal(child.pid, 0);
    return how;
}

static void read_all(int fd, char *out, size_t bytes)
{
    size_t used = 0;
    ssize_t got;

    while ((got = read(fd, out + used, bytes - 1 - used)) > 0)
        used += (size_t)got;
    out[used] = '\0';
    close(fd);
}

/* What a script prints. */
static void capture(const char *script, int fd3, char *out, size_t bytes)
{
    pkb_child child = PKB_CHILD_NONE;
    pkb_child_exit how;
    int words[2];

    assert_int_equal(pipe2(words, O_CLOEXEC), 0);
    assert_int_equal(start_shell(&child, script, words[1], fd3, NULL), PKB_OK);
    close(words[1]);
    read_all(words[0], out, bytes);
    assert_int_equal(pkb_child_wait(&child, PKB_TEST_HUNG_NS, &how, NULL), PKB_OK);
}

static void exit_status_and_signal_are_told_apart(void **state)
{
    char text[64];
    (void)state;

    pkb_child_exit how = run_shell("exit 3");
    assert_true(how.exited && how.status == 3);
    pkb_child_exit_text(&how, text, sizeof text);
    assert_string_equal(text, "exited with status 3");
    how = run_shell("kill -SEGV $$");
    assert_true(!how.exited && how.signal == SIGSEGV);
    pkb_child_exit_text(&how, text, sizeof text);
    assert_string_equal(text, "was killed by SIGSEGV");
}

static void a_monitors_status_unwraps_to_a_signal(void **state)
{
    pkb_child_exit how = {.exited = true, .status = 128 + SIGSYS};
    (void)state;

    pkb_child_exit_unwrap(&how);
    assert_true(!how.exited && how.signal == SIGSYS);
    how = (pkb_child_exit){.exited = true, .status = 127};
    pkb_child_exit_unwrap(&how);
    assert_true(how.exited && how.status == 127);
}

static void a_failed_exec_is_reported_at_once(void **state)
{
    const char *const argv[] = {"pkb-no-such-program", NULL};
    pkb_child_options options = {.argv = argv, .stdin_fd = -1, .stdout_fd = -1, .stderr_fd = -1};
    pkb_child child = PKB_CHILD_NONE;
    pkb_error err = {0};
    (void)state;

    assert_int_equal(pkb_child_start(&child, &options, &err), PKB_ERR_MISSING);
    assert_non_null(strstr(err.message, "pkb-no-such-program"));
    assert_int_equal(child.pid, 0);
    const char *const folder[] = {"/tmp", NULL};
    options.argv = folder;
    assert_int_equal(pkb_child_start(&child, &options, &err), PKB_ERR_IO);
    const char *const fine[] = {"true", NULL};
    options.argv = fine;
    options.directory = "/no/such/directory";
    assert_int_equal(pkb_child_start(&child, &options, &err), PKB_ERR_IO);
    assert_non_null(strstr(err.message, "directory"));
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* nobody is left to reap */
}

static void only_named_descriptors_are_inherited(void **state)
{
    char text[256];
    int leak = open("/dev/zero", O_RDONLY), wanted = open("/dev/full", O_RDONLY);
    (void)state;

    capture("readlink /proc/$$/fd/3; for fd in 4 5 6 7 8 9; do readlink /proc/$$/fd/$fd; done",
            wanted, text, sizeof text);
    assert_string_equal(text, "/dev/full\n");
    close(leak);
    close(wanted);
}

static void descriptors_may_change_places(void **state)
{
    const char *const argv[] = {"sh", "-c", "readlink /proc/self/fd/3 /proc/self/fd/4", NULL};
    char text[256];
    int words[2];
    pkb_child child = PKB_CHILD_NONE;
    pkb_child_exit how;
    (void)state;

    assert_int_equal(pipe2(words, O_CLOEXEC), 0);
    int zero = fcntl(open("/dev/zero", O_RDONLY), F_DUPFD, 30);
    int full = fcntl(open("/dev/full", O_RDONLY), F_DUPFD, 31);
    int reader = fcntl(words[0], F_DUPFD_CLOEXEC, 40); /* out of the way of 3 and 4 */
    int writer = fcntl(words[1], F_DUPFD_CLOEXEC, 41);
    close(words[0]);
    close(words[1]);
    dup2(zero, 4);
    dup2(full, 3);
    const pkb_child_fd fds[] = {{.from = 4, .to = 3}, {.from = 3, .to = 4}};
    const pkb_child_options options = {.argv = argv,
                                       .stdin_fd = -1,
                                       .stdout_fd = writer,
                                       .stderr_fd = -1,
                                       .fds = fds,
                                       .fd_count = 2};
    assert_int_equal(pkb_child_start(&child, &options, NULL), PKB_OK);
    close(writer);
    read_all(reader, text, sizeof text);
    assert_string_equal(text, "/dev/zero\n/dev/full\n");
    assert_int_equal(pkb_child_wait(&child, PKB_TEST_HUNG_NS, &how, NULL), PKB_OK);
}

static void a_deadline_leaves_the_child_running(void **state)
{
    pkb_child child = PKB_CHILD_NONE;
    pkb_child_exit how;
    (void)state;

    assert_int_equal(start_shell(&child, "sleep 1000", -1, -1, NULL), PKB_OK);
    uint64_t start_ns = pkb_clock_now_ns();
    assert_int_equal(pkb_child_wait(&child, 30 * PKB_NS_PER_MS, &how, NULL), PKB_ERR_TIMEOUT);
    assert_true(pkb_clock_now_ns() - start_ns >= 30 * PKB_NS_PER_MS);
    assert_int_equal(kill(child.pid, 0), 0);
    pkb_child_kill(&child);
    assert_int_equal(child.pid, 0);
    pkb_child_kill(&child); /* harmless */
}

static void killing_reaches_the_whole_group(void **state)
{
    pkb_child child = PKB_CHILD_NONE;
    char text[64] = "";
    int words[2];
    (void)state;

    assert_int_equal(pipe2(words, O_CLOEXEC), 0);
    assert_int_equal(start_shell(&child, "sleep 60 & echo $!; wait", words[1], -1, NULL), PKB_OK);
    close(words[1]);
    assert_true(read(words[0], text, sizeof text - 1) > 0);
    pid_t grandchild = (pid_t)strtol(text, NULL, 10);
    assert_int_equal(kill(grandchild, 0), 0);
    pkb_child_kill(&child);
    /* Both ends of the pipe are gone only when the grandchild is. */
    assert_int_equal(read(words[0], text, sizeof text), 0);
    close(words[0]);
}

/* As a bubblewrap does that is killed before its own child can ask to die with it. */
static void what_a_killed_child_leaves_in_its_group_goes_with_it(void **state)
{
    pkb_child child = PKB_CHILD_NONE;
    pkb_child_exit how = {0};
    char byte;
    int words[2];
    (void)state;

    assert_int_equal(pipe2(words, O_CLOEXEC), 0);
    assert_int_equal(start_shell(&child, "sleep 1000 & kill -9 $$", words[1], -1, NULL), PKB_OK);
    close(words[1]);
    assert_int_equal(pkb_child_wait(&child, PKB_TEST_HUNG_NS, &how, NULL), PKB_OK);
    assert_int_equal(how.signal, SIGKILL);
    struct pollfd end = {.fd = words[0], .events = POLLIN};
    assert_int_equal(poll(&end, 1, (int)(PKB_TEST_HUNG_NS / PKB_NS_PER_MS)), 1);
    assert_int_equal(read(words[0], &byte, 1), 0);
    close(words[0]);
}

static void a_child_dies_with_its_parent(void **state)
{
    int words[2];
    char byte;
    (void)state;

    assert_int_equal(pipe2(words, O_CLOEXEC), 0);
    pid_t middle = fork();
    if (middle == 0) {
        pkb_child child = PKB_CHILD_NONE;
        start_shell(&child, "exec sleep 1000", words[1], -1, NULL);
        _exit(0);
    }
    close(words[1]);
    assert_int_equal(waitpid(middle, NULL, 0), middle);
    struct pollfd end = {.fd = words[0], .events = POLLIN};
    assert_int_equal(poll(&end, 1, (int)(PKB_TEST_HUNG_NS / PKB_NS_PER_MS)), 1);
    assert_int_equal(read(words[0], &byte, 1), 0);
    close(words[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exit_status_and_signal_are_told_apart),
        cmocka_unit_test(a_monitors_status_unwraps_to_a_signal),
        cmocka_unit_test(a_failed_exec_is_reported_at_once),
        cmocka_unit_test(only_named_descriptors_are_inherited),
        cmocka_unit_test(descriptors_may_change_places),
        cmocka_unit_test(a_deadline_leaves_the_child_running),
        cmocka_unit_test(killing_reaches_the_whole_group),
        cmocka_unit_test(what_a_killed_child_leaves_in_its_group_goes_with_it),
        cmocka_unit_test(a_child_dies_with_its_parent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
