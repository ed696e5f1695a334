/* SPDX-License-Identifier: Apache-2.0
 *
 * Tests of evaluator/machine/tree.c: signals reach all of a tree, whatever left its group.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "base/fs.h"
#include "evaluator/machine/tree.h"
#include "tests/unit/evaluator/processes.h"

enum { LOOKS = 200 };

typedef struct fixture {
    char folder[32];
    char *file;
    pid_t root, pids[PKB_TEST_PIDS];
    int count;
} fixture;

static int set_up(void **state)
{
    fixture *it = calloc(1, sizeof *it);
    strcpy(it->folder, "/tmp/pkb-tree-XXXXXX");
    assert_non_null(mkdtemp(it->folder));
    it->file = pkb_fs_join(it->folder, "pids");
    *state = it;
    return 0;
}

static int tear_down(void **state)
{
    fixture *it = *state;
    for (int i = 0; i < it->count; i++)
        kill(it->pids[i], SIGKILL);
    pkb_fs_remove_tree(it->folder, NULL);
    free(it->file);
    free(it);
    return 0;
}

static void grow(fixture *it)
{
    it->root = fork();
    if (it->root == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        prctl(PR_SET_CHILD_SUBREAPER, 1);
        grow_tree(it->file);
        spin();
    }
    assert_true(wait_for_pids(it->file, it->pids, PKB_TEST_TREE));
    it->count = PKB_TEST_TREE;
}

static void expect_stopped(const fixture *it)
{
    for (int look = 0; look < LOOKS; look++)
        for (int i = 0; i < it->count; i++)
            assert_int_equal(state_of(it->pids[i]), 'T');
}

static void expect_running(const fixture *it)
{
    for (int i = 0; i < it->count; i++)
        assert_int_not_equal(state_of(it->pids[i]), 'T');
}

static void all_of_it_stops_and_goes_on(void **state)
{
    fixture *it = *state;

    grow(it);
    assert_true(pkb_tree_stop(it->root, PKB_TEST_HUNG_NS));
    expect_stopped(it);
    pkb_tree_continue(it->root);
    expect_running(it);
    pkb_tree_kill(it->root);
    assert_int_equal(waitpid(it->root, NULL, 0), it->root);
    for (int i = 0; i < it->count; i++)
        assert_true(wait_until_gone(it->pids[i]));
}

static void all_of_it_is_killed_while_it_is_stopped(void **state)
{
    fixture *it = *state;

    grow(it);
    assert_true(pkb_tree_stop(it->root, PKB_TEST_HUNG_NS));
    pkb_tree_kill(it->root);
    assert_int_equal(waitpid(it->root, NULL, 0), it->root);
    for (int i = 0; i < it->count; i++)
        assert_true(wait_until_gone(it->pids[i]));
}

/* One that forks all the time cannot slip through. */
static void what_multiplies_stops_too(void **state)
{
    fixture *it = *state;

    it->root = fork();
    if (it->root == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        note_pid(it->file, getpid());
        for (;;) {
            if (fork() == 0)
                _exit(0);
            while (waitpid(-1, NULL, WNOHANG) > 0)
                ;
        }
    }
    assert_true(wait_for_pids(it->file, it->pids, 1));
    it->count = 1;
    assert_true(pkb_tree_stop(it->root, PKB_TEST_HUNG_NS));
    expect_stopped(it);
    pkb_tree_kill(it->root);
    assert_int_equal(waitpid(it->root, NULL, 0), it->root);
}

/* "/autogroup-12 nice 3"; false: this kernel has none. */
static bool read_autogroup(pid_t pid, int *priority)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/autogroup", (int)pid);
    FILE *file = fopen(path, "re");
    const bool is_read = file != NULL && fscanf(file, "%*s nice %d", priority) == 1;
    if (file != NULL)
        fclose(file);
    return is_read;
}

static void all_of_it_gets_a_priority(void **state)
{
    fixture *it = *state;
    const int wanted = getpriority(PRIO_PROCESS, 0) + 3;
    int before = 0, after = 0, of_session = 0;
    const bool has_autogroups = read_autogroup(getpid(), &before);

    grow(it);
    pkb_tree_renice(it->root, wanted);
    for (int i = 0; i < it->count; i++)
        assert_int_equal(getpriority(PRIO_PROCESS, (id_t)it->pids[i]), wanted);
    for (int i = 0; i < it->count && has_autogroups; i++)
        if (getsid(it->pids[i]) == it->pids[i]) {
            assert_true(read_autogroup(it->pids[i], &of_session));
            assert_int_equal(of_session, wanted);
        }
    assert_int_equal(read_autogroup(getpid(), &after), has_autogroups);
    assert_int_equal(after, before); /* that session did not begin in the tree */
    pkb_tree_kill(it->root);
    assert_int_equal(waitpid(it->root, NULL, 0), it->root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(all_of_it_stops_and_goes_on, set_up, tear_down),
        cmocka_unit_test_setup_teardown(all_of_it_is_killed_while_it_is_stopped, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_multiplies_stops_too, set_up, tear_down),
        cmocka_unit_test_setup_teardown(all_of_it_gets_a_priority, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
