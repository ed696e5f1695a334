/* SPDX-License-Identifier: Apache-2.0
 *
 * Sandboxes without an owner go, and nothing else does that has the same words.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/sandbox/stray.h"

#define PATH "/tmp/pkb-stray/1e79b597"

/* Sleeps under that name with one more argument; it has them when this returns. */
static pid_t start_as(uid_t user, const char *name, const char *argument)
{
    int ends[2];
    char byte;

    assert_int_equal(pipe(ends), 0);
    const pid_t pid = fork();
    if (pid == 0) {
        if (setuid(user) != 0)
            _exit(1);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        dup2(ends[1], STDOUT_FILENO);
        execl("/bin/sh", name, "-c", "echo; exec >&-; while :; do sleep 1; done", name, "--bind",
              argument, (char *)NULL);
        _exit(1);
    }
    close(ends[1]);
    assert_int_equal(read(ends[0], &byte, 1), 1);
    close(ends[0]);
    return pid;
}

static pid_t start(const char *name, const char *argument)
{
    return start_as(getuid(), name, argument);
}

static void expect_killed(pid_t pid)
{
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static void expect_alive(pid_t pid)
{
    assert_int_equal(waitpid(pid, NULL, WNOHANG), 0);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

static void a_sandbox_that_has_the_path_or_what_lies_below_it_is_ended(void **state)
{
    const pid_t exact = start("bwrap", PATH), below = start("bwrap", PATH "/ahead-2");
    (void)state;
    assert_int_equal(pkb_stray_end(PATH), 2);
    expect_killed(exact);
    expect_killed(below);
    assert_int_equal(pkb_stray_end(PATH), 0);
}

static void other_programs_and_other_paths_are_spared(void **state)
{
    const pid_t spared[] = {start("vi", PATH "/notes"), start("bwrap", PATH "0/build"),
                            start("bwrap", "/x" PATH), start("bwrap2", PATH)};
    (void)state;
    assert_int_equal(pkb_stray_end(PATH), 0);
    for (size_t i = 0; i < sizeof spared / sizeof spared[0]; i++)
        expect_alive(spared[i]);
}

static void another_users_are_spared(void **state)
{
    (void)state;
    if (getuid() != 0)
        skip(); /* only root can be somebody else */
    const pid_t pid = start_as(65534, "bwrap", PATH);
    assert_int_equal(pkb_stray_end(PATH), 0);
    expect_alive(pid);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sandbox_that_has_the_path_or_what_lies_below_it_is_ended),
        cmocka_unit_test(other_programs_and_other_paths_are_spared),
        cmocka_unit_test(another_users_are_spared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
