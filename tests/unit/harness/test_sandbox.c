/* SPDX-License-Identifier: Apache-2.0
 *
 * What a program in the sandbox can see and do. Needs bubblewrap and build/pkbench-cell.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "harness/sandbox/child.h"
#include "harness/sandbox/sandbox.h"
#include "tests/unit/hung.h"

static char secret[] = "/tmp/pkb-test-secret-XXXXXX"; /* a file outside */

/* Runs a shell script in a sandbox; returns its exit status, its words in `out`. */
static pkb_child_exit run(const pkb_sandbox_spec *spec, const char *script, char *out, size_t bytes)
{
    const char *const command[] = {"/bin/sh", "-c", script, NULL};
    pkb_child child = PKB_CHILD_NONE;
    pkb_child_exit how = {0};
    char **argv = NULL;
    pkb_error err = {0};
    size_t used = 0;
    ssize_t got;
    int words[2];

    assert_int_equal(pkb_sandbox_argv(&argv, spec, command, NULL), PKB_OK);
    assert_int_equal(pipe2(words, O_CLOEXEC), 0);
    const pkb_child_options options = {
        .argv = (const char *const *)argv, .stdin_fd = -1, .stdout_fd = words[1], .stderr_fd = -1};
    if (pkb_child_start(&child, &options, &err) != PKB_OK)
        fail_msg("%s", err.message);
    close(words[1]);
    while ((got = read(words[0], out + used, bytes - 1 - used)) > 0)
        used += (size_t)got;
    out[used] = '\0';
    close(words[0]);
    assert_int_equal(pkb_child_wait(&child, PKB_TEST_HUNG_NS, &how, &err), PKB_OK);
    pkb_argv_free(argv);
    return how;
}

static const pkb_sandbox_spec full = {.level = PKB_SANDBOX_FULL};

static void expect_refused(const char *script)
{
    char text[1024];
    pkb_child_exit how = run(&full, script, text, sizeof text);
    if (how.exited && how.status == 0)
        fail_msg("it could: %s (%s)", script, text);
}

static void a_sandbox_hides_files_and_processes(void **state)
{
    char script[128], text[4096];
    (void)state;

    snprintf(script, sizeof script, "cat %s", secret);
    expect_refused(script);
    expect_refused("ls /root || ls /home || ls /work || ls /etc/passwd");
    expect_refused("cat /proc/1/environ || cat /proc/1/mem || ls /proc/1/fd/0");
    run(&full, "ls -d /proc/[0-9]* | wc -l", text, sizeof text);
    assert_in_range(strtol(text, NULL, 10), 1, 6);
    run(&full, "cat /proc/net/dev | wc -l", text, sizeof text);
    assert_int_equal(strtol(text, NULL, 10), 3); /* two lines of header, lo */
}

static void only_tmp_can_be_written_and_it_is_small(void **state)
{
    const pkb_sandbox_spec small = {.level = PKB_SANDBOX_FULL, .tmp_bytes = 1 << 20};
    char text[256];
    (void)state;

    expect_refused("echo x > /x");
    expect_refused("echo x > /usr/x");
    expect_refused("echo x > /dev/x");
    expect_refused("echo x > /dev/shm/x");
    expect_refused("echo x > /proc/sys/vm/overcommit_ratio");
    expect_refused("echo x > /proc/sysrq-trigger");
    pkb_child_exit how = run(&small, "echo x > /tmp/x && cat /tmp/x", text, sizeof text);
    assert_true(how.exited && how.status == 0);
    how = run(&small, "head -c 2000000 /dev/zero > /tmp/x", text, sizeof text);
    assert_true(how.exited && how.status != 0);
}

/* NVIDIA's driver names its threads through /proc; nothing else there may be written. */
static void with_gpus_a_process_still_writes_only_about_itself(void **state)
{
    const pkb_sandbox_gpus none = {.count = 0};
    const pkb_sandbox_spec spec = {.level = PKB_SANDBOX_FULL, .gpus = &none};
    char text[4096];
    (void)state;

    pkb_child_exit how = run(&spec, "echo x > /proc/self/task/$$/comm", text, sizeof text);
    assert_true(how.exited && how.status == 0);
    run(&spec,
        "for f in sysrq-trigger sys/vm/overcommit_ratio sys/kernel/core_pattern irq/0/affinity "
        "1/mem 1/comm; do (echo x > /proc/$f) 2>/dev/null && echo wrote $f; done; "
        "find /proc -maxdepth 4 -path '/proc/[0-9]*' -prune -o -path /proc/self -prune -o "
        "-path /proc/thread-self -prune -o -type f -writable -print 2>/dev/null | head -n 3; "
        "cat /proc/1/mem 2>/dev/null && echo read; true",
        text, sizeof text);
    assert_string_equal(text, "");
}

static void there_are_no_rights_to_regain(void **state)
{
    char text[4096];
    (void)state;

    run(&full, "cat /proc/self/status", text, sizeof text);
    assert_non_null(strstr(text, "CapPrm:\t0000000000000000"));
    assert_non_null(strstr(text, "CapBnd:\t0000000000000000"));
    assert_non_null(strstr(text, "NoNewPrivs:\t1"));
    run(&full, "id -u; hostname 2>/dev/null || cat /proc/sys/kernel/hostname", text, sizeof text);
    assert_string_equal(text, "65534\nsandbox\n");
}

static void the_environment_is_the_given_one(void **state)
{
    static const char *const environment[] = {"A=1", "B=x=y z", NULL};
    pkb_sandbox_spec spec = {.level = PKB_SANDBOX_FULL, .environment = environment};
    char text[1024];
    (void)state;

    setenv("PKB_TEST_SECRET", "leak", 1);
    for (int i = 0; i < 2; i++) {
        spec.level = i == 0 ? PKB_SANDBOX_FULL : PKB_SANDBOX_NONE;
        run(&spec, "env | grep -v -e ^PWD= -e ^_= -e ^SHLVL= -e ^OLDPWD= | sort; pwd", text,
            sizeof text);
        assert_string_equal(text, "A=1\nB=x=y z\n/tmp\n");
    }
}

static void binds_appear_where_they_should(void **state)
{
    const pkb_sandbox_bind binds[] = {{.from = secret, .to = "/pkb/in/file"}};
    const pkb_sandbox_spec spec = {
        .level = PKB_SANDBOX_FULL, .binds = binds, .bind_count = 1, .directory = "/pkb/in"};
    char text[256];
    (void)state;

    run(&spec, "cat file; echo x > /pkb/in/file || echo refused; pwd", text, sizeof text);
    assert_string_equal(text, "secret\nrefused\n/pkb/in\n");
}

static void without_a_sandbox_paths_are_rewritten(void **state)
{
    static const char *const environment[] = {"LIB=/pkb/lib:/pkb/lib64:/usr/lib", NULL};
    const pkb_sandbox_bind binds[] = {{.from = "/a", .to = "/pkb"},
                                      {.from = "/b/lib", .to = "/pkb/lib"}};
    const pkb_sandbox_spec spec = {.level = PKB_SANDBOX_NONE,
                                   .binds = binds,
                                   .bind_count = 2,
                                   .environment = environment,
                                   .directory = "/pkb/work"};
    const char *const command[] = {"/pkb/x", "-I/pkb/lib/y", "--o=/pkb/z", "/q/pkb/lib", "", NULL};
    const char *const expected[] = {
        "env",  "-i",         "-C",       "/a/work",    "LIB=/b/lib:/a/lib64:/usr/lib",
        "/a/x", "-I/b/lib/y", "--o=/a/z", "/q/pkb/lib", ""};
    char **argv = NULL;
    (void)state;

    assert_int_equal(pkb_sandbox_argv(&argv, &spec, command, NULL), PKB_OK);
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++)
        assert_string_equal(argv[i], expected[i]);
    assert_null(argv[sizeof expected / sizeof expected[0]]);
    pkb_argv_free(argv);
}

static const pkb_sandbox_spec restricted = {.level = PKB_SANDBOX_RESTRICTED};

static void landlock_hides_files_and_gives_a_private_tmp(void **state)
{
    char script[256], text[1024];
    (void)state;

    snprintf(script, sizeof script,
             "cat %s || cat /etc/passwd || ls /root || ls /tmp || ls /proc/1/fd ||"
             " echo x > /tmp/pkb-x || echo x > /usr/x || echo x > /dev/shm/x",
             secret);
    pkb_child_exit how = run(&restricted, script, text, sizeof text);
    if (!how.exited || how.status == 0)
        fail_msg("it could: %s", text);
    how = run(&restricted, "set -e; echo x > x; cat x; test $(pwd) = $TMPDIR; pwd", text,
              sizeof text);
    assert_true(how.exited && how.status == 0);
    assert_memory_equal(text, "x\n/tmp/pkb-tmp-", 15);
    text[strcspn(text + 2, "\n") + 2] = '\0';
    assert_int_equal(access(text + 2, F_OK), -1); /* gone with the command */
}

static void landlock_passes_exit_codes_and_binds(void **state)
{
    const pkb_sandbox_bind binds[] = {{.from = secret, .to = "/pkb/file"}};
    const pkb_sandbox_spec spec = {
        .level = PKB_SANDBOX_RESTRICTED, .binds = binds, .bind_count = 1};
    const char *const command[] = {"cat", "/pkb/file", NULL};
    char **argv = NULL, script[256], text[256];
    (void)state;

    pkb_child_exit how = run(&restricted, "exit 7", text, sizeof text);
    assert_true(how.exited && how.status == 7);
    how = run(&restricted, "kill -SEGV $$", text, sizeof text);
    assert_true(how.exited && how.status == 128 + SIGSEGV);
    snprintf(script, sizeof script, "cat %s; echo x > %s", secret, secret);
    how = run(&spec, script, text, sizeof text);
    assert_string_equal(text, "secret\n");
    assert_true(how.exited && how.status != 0);
    assert_int_equal(pkb_sandbox_argv(&argv, &spec, command, NULL), PKB_OK);
    size_t last = 0;
    while (argv[last + 1] != NULL)
        last++;
    assert_string_equal(argv[last], secret);
    pkb_argv_free(argv);
}

static void exit_codes_come_through_bubblewrap(void **state)
{
    char text[64];
    (void)state;

    pkb_child_exit how = run(&full, "exit 7", text, sizeof text);
    assert_true(how.exited && how.status == 7);
    how = run(&full, "kill -SEGV $$", text, sizeof text);
    assert_true(how.exited && how.status == 128 + SIGSEGV);
    pkb_child_exit_unwrap(&how);
    assert_int_equal(how.signal, SIGSEGV);
}

static void the_canary_finds_a_sandbox_that_holds(void **state)
{
    pkb_sandbox_level level = PKB_SANDBOX_NONE;
    char why[256] = "?";
    pkb_error err = {0};
    (void)state;

    if (pkb_sandbox_probe(&level, why, sizeof why, &err) != PKB_OK)
        fail_msg("%s", err.message);
    assert_int_equal(level, PKB_SANDBOX_FULL);
    assert_string_equal(why, "");
}

/* What the probe finds with programs of `folder` before all others, or instead of them. */
static pkb_code probe_with(const char *folder, bool is_alone, pkb_sandbox_level *level, char *why,
                           size_t why_bytes)
{
    const char *inherited = getenv("PATH");
    char *path = strdup(inherited != NULL ? inherited : ""), changed[4096];

    assert_non_null(path);
    snprintf(changed, sizeof changed, "%s%s%s", folder, is_alone ? "" : ":", is_alone ? "" : path);
    setenv("PATH", changed, 1);
    pkb_code rc = pkb_sandbox_probe(level, why, why_bytes, NULL);
    setenv("PATH", path, 1);
    free(path);
    return rc;
}

static void without_bubblewrap_the_probe_says_so(void **state)
{
    pkb_sandbox_level level = PKB_SANDBOX_NONE;
    char why[256] = "";
    (void)state;

    pkb_code rc = probe_with("/nowhere", true, &level, why, sizeof why);
    assert_non_null(strstr(why, "bwrap"));
    if (rc == PKB_OK)
        assert_int_equal(level, PKB_SANDBOX_RESTRICTED);
    else
        assert_int_equal(rc, PKB_ERR_MISSING);
}

/* A bubblewrap that is killed the first time. */
static void a_canary_that_was_killed_makes_no_sandbox_weaker(void **state)
{
    static const char script[] = "#!/bin/sh\n[ -e $0.mark ] || { : >$0.mark; kill -9 $$; "
                                 "}\nPATH=${PATH#*:} exec bwrap \"$@\"\n";
    pkb_sandbox_level level = PKB_SANDBOX_NONE;
    char folder[] = "/tmp/pkb-probe-XXXXXX", program[64], why[256] = "?";
    (void)state;

    assert_non_null(mkdtemp(folder));
    snprintf(program, sizeof program, "%s/bwrap", folder);
    assert_int_equal(pkb_fs_replace(program, script, sizeof script - 1, NULL), PKB_OK);
    assert_int_equal(chmod(program, 0755), 0);
    assert_int_equal(probe_with(folder, false, &level, why, sizeof why), PKB_OK);
    assert_int_equal(level, PKB_SANDBOX_FULL);
    assert_string_equal(why, "");
    snprintf(program, sizeof program, "%s/bwrap.mark", folder);
    assert_int_equal(access(program, F_OK), 0);
    pkb_fs_remove_tree(folder, NULL);
}

static void lures_of_killed_calls_are_removed_and_those_in_use_are_not(void **state)
{
    char folder[] = "/tmp/pkb-lures-XXXXXX", left[64], used[64];
    pkb_sandbox_level level = PKB_SANDBOX_NONE;
    (void)state;

    assert_non_null(mkdtemp(folder));
    snprintf(left, sizeof left, "%s/pkbench-lure-aaaaaa", folder);
    snprintf(used, sizeof used, "%s/pkbench-lure-bbbbbb", folder);
    assert_int_equal(pkb_fs_replace(left, "", 0, NULL), PKB_OK);
    assert_int_equal(pkb_fs_replace(used, "", 0, NULL), PKB_OK);
    int fd = open(used, O_RDONLY | O_CLOEXEC);
    assert_int_equal(flock(fd, LOCK_EX), 0);
    setenv("TMPDIR", folder, 1);
    pkb_code rc = pkb_sandbox_probe(&level, NULL, 0, NULL);
    unsetenv("TMPDIR");
    assert_int_equal(rc, PKB_OK);
    assert_false(pkb_fs_exists(left));
    assert_int_equal(unlink(used), 0);
    assert_int_equal(rmdir(folder), 0); /* its own is gone, too */
    close(fd);
}

static void levels_are_known_by_name(void **state)
{
    pkb_sandbox_level level;
    (void)state;

    assert_int_equal(pkb_sandbox_level_parse("restricted", &level, NULL), PKB_OK);
    assert_string_equal(pkb_sandbox_level_name(level), "restricted");
    assert_int_equal(pkb_sandbox_level_parse("partial", &level, NULL), PKB_ERR_USAGE);
}

static int make_secret(void **state)
{
    int fd = mkstemp(secret);
    (void)state;
    if (fd < 0 || write(fd, "secret\n", 7) != 7)
        return -1;
    return close(fd);
}

static int remove_secret(void **state)
{
    (void)state;
    return unlink(secret);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sandbox_hides_files_and_processes),
        cmocka_unit_test(only_tmp_can_be_written_and_it_is_small),
        cmocka_unit_test(with_gpus_a_process_still_writes_only_about_itself),
        cmocka_unit_test(there_are_no_rights_to_regain),
        cmocka_unit_test(the_environment_is_the_given_one),
        cmocka_unit_test(binds_appear_where_they_should),
        cmocka_unit_test(without_a_sandbox_paths_are_rewritten),
        cmocka_unit_test(landlock_hides_files_and_gives_a_private_tmp),
        cmocka_unit_test(landlock_passes_exit_codes_and_binds),
        cmocka_unit_test(exit_codes_come_through_bubblewrap),
        cmocka_unit_test(the_canary_finds_a_sandbox_that_holds),
        cmocka_unit_test(without_bubblewrap_the_probe_says_so),
        cmocka_unit_test(a_canary_that_was_killed_makes_no_sandbox_weaker),
        cmocka_unit_test(lures_of_killed_calls_are_removed_and_those_in_use_are_not),
        cmocka_unit_test(levels_are_known_by_name),
    };
    return cmocka_run_group_tests(tests, make_secret, remove_secret);
}
