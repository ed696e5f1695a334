/* SPDX-License-Identifier: Apache-2.0
 *
 * Tests of evaluator/machine/workdir.c: what a killed run left goes, what a living one uses stays.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fs.h"
#include "evaluator/machine/workdir.h"

static char base[64];

static int set_up(void **state)
{
    (void)state;
    strcpy(base, "/tmp/pkb-work-XXXXXX");
    assert_non_null(mkdtemp(base));
    setenv("PKBENCH_TMPDIR", base, 1);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    return pkb_fs_remove_tree(base, NULL) == PKB_OK ? 0 : -1;
}

static pkb_workdir make(void)
{
    pkb_workdir made = PKB_WORKDIR_NONE;
    pkb_error err = {0};
    if (pkb_workdir_open(&made, &err) != PKB_OK)
        fail_msg("%s", err.message);
    return made;
}

static void it_is_private_and_goes_with_its_content(void **state)
{
    struct stat status;
    pkb_workdir made = make();
    char *path = strdup(made.path), *file = pkb_workdir_path(&made, "file");
    (void)state;
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0700);
    assert_int_equal(pkb_fs_replace(file, "x", 1, NULL), PKB_OK);
    pkb_workdir_close(&made);
    assert_false(pkb_fs_exists(path));
    free(path);
    free(file);
}

static void a_living_one_is_not_swept(void **state)
{
    pkb_workdir first = make(), second = make();
    (void)state;
    assert_string_not_equal(first.path, second.path);
    assert_true(pkb_fs_exists(first.path));
    pkb_workdir_close(&second);
    assert_true(pkb_fs_exists(first.path));
    pkb_workdir_close(&first);
}

/* Opens one in a child that is killed; returns its path, and a process that it started. */
static char *leave_behind(pid_t *orphan)
{
    int ends[2];
    char path[256] = "";
    assert_int_equal(pipe(ends), 0);
    pid_t owner = fork();
    if (owner == 0) {
        pkb_workdir made = make();
        pid_t worker = fork();
        if (worker == 0) {
            close(made.lock_fd); /* close-on-exec does it in a real one */
            setpgid(0, 0);
            for (;;)
                pause();
        }
        pkb_workdir_note(&made, worker, NULL);
        dprintf(ends[1], "%d %s", (int)worker, made.path);
        close(ends[1]);
        for (;;)
            pause();
    }
    close(ends[1]);
    usleep(100000);
    char text[512] = "";
    assert_true(read(ends[0], text, sizeof text - 1) > 0);
    close(ends[0]);
    assert_int_equal(sscanf(text, "%d %255s", orphan, path), 2);
    kill(owner, SIGKILL);
    waitpid(owner, NULL, 0);
    return strdup(path);
}

static bool is_alive(pid_t pid)
{
    char path[64], text[256] = "";
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return false;
    size_t count = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[count] = '\0';
    const char *end = strrchr(text, ')');
    return end != NULL && end[2] != 'Z' && end[2] != 'X';
}

static void what_a_killed_run_left_is_swept(void **state)
{
    pid_t orphan = 0;
    char *path = leave_behind(&orphan);
    (void)state;
    assert_true(pkb_fs_exists(path));
    assert_true(is_alive(orphan));
    pkb_workdir made = make();
    assert_false(pkb_fs_exists(path));
    for (int i = 0; i < 100 && is_alive(orphan); i++)
        usleep(10000);
    assert_false(is_alive(orphan));
    pkb_workdir_close(&made);
    free(path);
}

/* A sandbox with the directory in its command line; as if nobody knew of it any more. */
static pid_t start_sandbox(const char *path)
{
    int ends[2];
    char byte;

    assert_int_equal(pipe(ends), 0);
    const pid_t pid = fork();
    if (pid == 0) {
        setsid();
        dup2(ends[1], STDOUT_FILENO);
        execl("/bin/sh", "bwrap", "-c", "echo; while :; do sleep 1; done", "bwrap", path,
              (char *)NULL);
        _exit(1);
    }
    close(ends[1]);
    assert_int_equal(read(ends[0], &byte, 1), 1);
    close(ends[0]);
    return pid;
}

static void expect_killed(pid_t pid)
{
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static void sandboxes_that_a_killed_run_left_are_swept(void **state)
{
    pid_t orphan = 0;
    char *path = leave_behind(&orphan);
    pid_t stray = start_sandbox(path);
    (void)state;
    pkb_workdir living = PKB_WORKDIR_NONE;
    assert_int_equal(pkb_workdir_open(&living, NULL), PKB_OK);
    expect_killed(stray);
    stray = start_sandbox(living.path);
    pkb_workdir other = make();
    assert_int_equal(waitpid(stray, NULL, WNOHANG), 0); /* its owner lives */
    pkb_workdir_close(&other);
    assert_int_equal(waitpid(stray, NULL, WNOHANG), 0);
    pkb_workdir_close(&living);
    expect_killed(stray);
    free(path);
}

static void a_noted_number_that_is_another_process_now_is_spared(void **state)
{
    pkb_workdir made = make();
    char *notes = pkb_workdir_path(&made, "processes"), text[64];
    (void)state;
    pid_t bystander = fork();
    if (bystander == 0) {
        close(made.lock_fd);
        for (;;)
            pause();
    }
    snprintf(text, sizeof text, "%d 12345\n", (int)bystander);
    assert_int_equal(pkb_fs_replace(notes, text, strlen(text), NULL), PKB_OK);
    close(made.lock_fd); /* as if we had been killed */
    made.lock_fd = -1;
    pkb_workdir other = make();
    assert_false(pkb_fs_exists(made.path));
    assert_true(is_alive(bystander));
    kill(bystander, SIGKILL);
    waitpid(bystander, NULL, 0);
    pkb_workdir_close(&other);
    pkb_workdir_close(&made);
    free(notes);
}

static void a_folder_open_to_others_is_refused(void **state)
{
    char path[128];
    pkb_workdir made = PKB_WORKDIR_NONE;
    pkb_error err = {0};
    (void)state;
    snprintf(path, sizeof path, "%s/pkbench-%u", base, (unsigned)getuid());
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(chmod(path, 0777), 0);
    assert_int_equal(pkb_workdir_open(&made, &err), PKB_ERR_IO);
    assert_non_null(strstr(err.message, path));
}

static void a_path_too_long_for_sockets_is_refused(void **state)
{
    char path[160];
    pkb_workdir made = PKB_WORKDIR_NONE;
    pkb_error err = {0};
    (void)state;
    snprintf(path, sizeof path, "%s/%090d", base, 7);
    setenv("PKBENCH_TMPDIR", path, 1);
    assert_int_equal(pkb_workdir_open(&made, &err), PKB_ERR_USAGE);
    assert_non_null(strstr(err.message, "PKBENCH_TMPDIR"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(it_is_private_and_goes_with_its_content, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_living_one_is_not_swept, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_a_killed_run_left_is_swept, set_up, tear_down),
        cmocka_unit_test_setup_teardown(sandboxes_that_a_killed_run_left_are_swept, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_noted_number_that_is_another_process_now_is_spared,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_folder_open_to_others_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_path_too_long_for_sockets_is_refused, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
