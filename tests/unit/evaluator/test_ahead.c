/* SPDX-License-Identifier: Apache-2.0
 *
 * Tests of evaluator/compile/ahead.c: which jobs are built when, that a pause stops them, and that
 * nothing of them is left. A job here notes its number, grows a tree that spins, and ends when its
 * mark appears.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#include "base/fs.h"
#include "evaluator/compile/ahead.h"
#include "tests/unit/evaluator/processes.h"

enum { JOBS = 12, LOOKS = 200 };

typedef struct fixture {
    char folder[32];
    bool is_unwanted[JOBS], was_asked[JOBS];
    bool has_tree; /* its jobs grow one */
    pkb_ahead *ahead;
    pid_t pids[PKB_TEST_PIDS];
    int count;
} fixture;

/* Time that went by at once: the linker (--wrap) gives this clock to all that this test links. */
static uint64_t skipped_ns;
int __real_clock_gettime(clockid_t clock, struct timespec *out);
int __wrap_clock_gettime(clockid_t clock, struct timespec *out);

int __wrap_clock_gettime(clockid_t clock, struct timespec *out)
{
    const int failed = __real_clock_gettime(clock, out);
    out->tv_sec += (time_t)(skipped_ns / PKB_NS_PER_S);
    return failed;
}

static char *path_of(const fixture *it, const char *what, size_t job)
{
    char name[32];
    snprintf(name, sizeof name, "%s%zu", what, job);
    return pkb_fs_join(it->folder, name);
}

static void mark(const fixture *it, const char *what, size_t job)
{
    char *path = path_of(it, what, job);
    if (pkb_fs_write(path, "", 0, NULL) != PKB_OK)
        abort();
    free(path);
}

static bool is_marked(const fixture *it, const char *what, size_t job)
{
    char *path = path_of(it, what, job);
    const bool is_there = pkb_fs_exists(path);
    free(path);
    return is_there;
}

static bool is_wanted(void *context, size_t job)
{
    fixture *it = context;
    it->was_asked[job] = true;
    return !it->is_unwanted[job];
}

static void build(void *context, size_t job, const char *directory)
{
    const fixture *it = context;

    if (pkb_fs_exists(directory))
        mark(it, "begun", job);
    char *file = path_of(it, "pids", job);
    if (it->has_tree)
        grow_tree(file);
    else
        note_pid(file, getpid());
    free(file);
    while (!is_marked(it, "end", job))
        pkb_clock_sleep_ns(PKB_NS_PER_MS);
    mark(it, "built", job);
}

static void start(fixture *it, size_t most, size_t at_once, uint64_t timeout_ns)
{
    const pkb_ahead_options options = {.most = most,
                                       .at_once = at_once,
                                       .timeout_ns = timeout_ns,
                                       .is_wanted = is_wanted,
                                       .build = build,
                                       .context = it};
    pkb_error err = {0};

    if (pkb_ahead_start(&it->ahead, &options, &err) != PKB_OK)
        fail_msg("%s", err.message);
}

static int set_up(void **state)
{
    fixture *it = calloc(1, sizeof *it);
    strcpy(it->folder, "/tmp/pkb-ahead-XXXXXX");
    assert_non_null(mkdtemp(it->folder));
    setenv("PKBENCH_TMPDIR", it->folder, 1);
    *state = it;
    return 0;
}

static int tear_down(void **state)
{
    fixture *it = *state;
    pkb_ahead_end(it->ahead);
    for (int i = 0; i < it->count; i++)
        assert_true(wait_until_gone(it->pids[i]));
    pkb_fs_remove_tree(it->folder, NULL);
    free(it);
    return 0;
}

static void wait_for_mark(fixture *it, const char *what, size_t job)
{
    const uint64_t deadline_ns = pkb_clock_now_ns() + PKB_TEST_HUNG_NS;
    while (!is_marked(it, what, job)) {
        if (pkb_clock_left_ns(deadline_ns) == 0)
            fail_msg("job %zu is not %s", job, what);
        pkb_ahead_tick(it->ahead);
        pkb_clock_sleep_ns(PKB_NS_PER_MS);
    }
}

/* None but those below `end` was begun, nor is by one more tick. */
static void expect_none_from(fixture *it, size_t end)
{
    pkb_ahead_tick(it->ahead);
    for (size_t job = end; job < JOBS; job++)
        assert_false(is_marked(it, "begun", job));
}

static void finish(fixture *it, size_t job)
{
    mark(it, "end", job);
    wait_for_mark(it, "built", job);
}

static void jobs_are_built_in_order_and_not_too_far_ahead(void **state)
{
    fixture *it = *state;

    start(it, 3, 1, PKB_TEST_HUNG_NS);
    pkb_ahead_move(it->ahead, 1, JOBS); /* job 0 is the caller's */
    for (size_t job = 1; job <= 3; job++) {
        wait_for_mark(it, "begun", job);
        expect_none_from(it, job + 1);
        finish(it, job);
    }
    for (int i = 0; i < LOOKS; i++)
        pkb_ahead_tick(it->ahead);
    expect_none_from(it, 4); /* three are there and not wanted yet */
    pkb_ahead_move(it->ahead, 2, JOBS);
    wait_for_mark(it, "begun", 4);
    expect_none_from(it, 5);
    assert_false(is_marked(it, "begun", 0));
}

static void what_is_not_wanted_or_passed_is_left_out(void **state)
{
    fixture *it = *state;

    it->is_unwanted[1] = it->is_unwanted[2] = true;
    start(it, 2, 2, PKB_TEST_HUNG_NS);
    pkb_ahead_move(it->ahead, 0, 5);
    wait_for_mark(it, "begun", 0);
    wait_for_mark(it, "begun", 3);
    pkb_ahead_move(it->ahead, 5, 5);
    finish(it, 0); /* whoever came to it waits for it: it goes on */
    finish(it, 3);
    expect_none_from(it, 4);
    pkb_ahead_move(it->ahead, 5, 7); /* more have come */
    wait_for_mark(it, "begun", 5);
    assert_false(is_marked(it, "begun", 1));
    assert_false(is_marked(it, "begun", 4));
}

static void a_job_may_be_taken_out_of_turn(void **state)
{
    fixture *it = *state;

    start(it, 3, 1, PKB_TEST_HUNG_NS);
    pkb_ahead_move(it->ahead, 0, JOBS);
    for (size_t job = 0; job < 3; job++)
        finish(it, job);
    pkb_ahead_take(it->ahead, 1);
    pkb_ahead_take(it->ahead, 1); /* no second time */
    wait_for_mark(it, "begun", 3);
    pkb_ahead_take(it->ahead, 3); /* still being built, so it will not count when it is there */
    finish(it, 3);
    wait_for_mark(it, "begun", 4);
    finish(it, 4);
    for (int i = 0; i < LOOKS; i++)
        pkb_ahead_tick(it->ahead);
    expect_none_from(it, 5); /* 0, 2 and 4 are there */
}

static bool are_stopped(const fixture *it)
{
    bool are_stopped = true;
    for (int i = 0; i < it->count; i++)
        are_stopped &= state_of(it->pids[i]) == 'T';
    return are_stopped;
}

/* On a busy machine it takes a while until they are. */
static void expect_stopped(fixture *it)
{
    const uint64_t deadline_ns = pkb_clock_now_ns() + PKB_TEST_HUNG_NS;
    while (!are_stopped(it)) {
        assert_int_not_equal(pkb_clock_left_ns(deadline_ns), 0);
        pkb_ahead_tick(it->ahead);
        pkb_clock_sleep_ns(PKB_NS_PER_MS);
    }
    for (int look = 0; look < LOOKS; look++)
        assert_true(are_stopped(it));
}

/* Begins job 0, of so many processes. */
static void begin(fixture *it, uint64_t timeout_ns, int count)
{
    char *file = path_of(it, "pids", 0);

    start(it, 1, 1, timeout_ns);
    pkb_ahead_move(it->ahead, 0, JOBS);
    pkb_ahead_tick(it->ahead);
    assert_true(wait_for_pids(file, it->pids, count));
    it->count = count;
    free(file);
}

static void grow(fixture *it, uint64_t timeout_ns)
{
    it->has_tree = true;
    begin(it, timeout_ns, PKB_TEST_TREE);
}

static void nothing_runs_while_it_is_paused(void **state)
{
    fixture *it = *state;

    grow(it, PKB_TEST_HUNG_NS);
    pkb_ahead_pause(it->ahead, true);
    expect_stopped(it);
    pkb_ahead_tick(it->ahead);
    expect_stopped(it);
    pkb_ahead_pause(it->ahead, false);
    for (int i = 0; i < it->count; i++)
        assert_int_not_equal(state_of(it->pids[i]), 'T');
    pkb_ahead_pause(it->ahead, true);
    expect_stopped(it);
    /* tear_down sees all of them end, stopped as they are */
}

static void nothing_begins_while_it_is_paused(void **state)
{
    fixture *it = *state;

    start(it, 2, 2, PKB_TEST_HUNG_NS);
    pkb_ahead_move(it->ahead, 0, JOBS);
    pkb_ahead_pause(it->ahead, true);
    expect_none_from(it, 0);
    pkb_ahead_pause(it->ahead, false);
    wait_for_mark(it, "begun", 0);
}

/* Twice its limit goes by in the pause. */
static void a_pause_does_not_count(void **state)
{
    fixture *it = *state;

    begin(it, PKB_TEST_HUNG_NS, 1);
    pkb_ahead_pause(it->ahead, true);
    expect_stopped(it);
    pkb_ahead_tick(it->ahead); /* sees it, too: later it would kill what does not stop */
    skipped_ns += 2 * PKB_TEST_HUNG_NS;
    pkb_ahead_tick(it->ahead);
    pkb_ahead_pause(it->ahead, false);
    pkb_ahead_tick(it->ahead);
    mark(it, "end", 0);
    wait_for_mark(it, "built", 0);
}

static void what_runs_reaches_its_limit(void **state)
{
    fixture *it = *state;

    grow(it, PKB_TEST_HUNG_NS);
    skipped_ns += PKB_TEST_HUNG_NS;
    pkb_ahead_tick(it->ahead);
    for (int i = 0; i < it->count; i++)
        assert_true(wait_until_gone(it->pids[i]));
}

static void what_takes_too_long_is_killed_and_not_tried_again(void **state)
{
    fixture *it = *state;
    const uint64_t deadline_ns = pkb_clock_now_ns() + PKB_TEST_HUNG_NS;

    grow(it, PKB_NS_PER_MS);
    while (!is_gone(it->pids[0]) && pkb_clock_left_ns(deadline_ns) > 0)
        pkb_ahead_tick(it->ahead);
    for (int i = 0; i < it->count; i++)
        assert_true(wait_until_gone(it->pids[i]));
    pkb_ahead_tick(it->ahead);
    assert_false(it->was_asked[1]); /* the first one counts as one that is ahead */
    pkb_ahead_move(it->ahead, 1, JOBS);
    pkb_ahead_tick(it->ahead);
    assert_true(it->was_asked[1]);
    assert_false(is_marked(it, "built", 0));
}

static void who_is_waited_for_has_the_callers_priority(void **state)
{
    fixture *it = *state;
    const int own = getpriority(PRIO_PROCESS, 0);

    grow(it, PKB_TEST_HUNG_NS);
    for (int i = 0; i < it->count; i++)
        assert_true(getpriority(PRIO_PROCESS, (id_t)it->pids[i]) > own);
    pkb_ahead_move(it->ahead, 1, JOBS);
    for (int i = 0; i < it->count && geteuid() == 0; i++)
        assert_int_equal(getpriority(PRIO_PROCESS, (id_t)it->pids[i]), own);
}

/* Even one that is stopped. */
static void it_dies_with_its_parent(void **state)
{
    fixture *it = *state;
    char *file = path_of(it, "pids", 0);

    const pid_t parent = fork();
    if (parent == 0) {
        grow(it, PKB_TEST_HUNG_NS);
        pkb_ahead_pause(it->ahead, true);
        mark(it, "paused", 0);
        spin();
    }
    wait_for_mark(it, "paused", 0);
    it->count = read_pids(file, it->pids);
    assert_int_equal(it->count, PKB_TEST_TREE);
    kill(parent, SIGKILL);
    assert_int_equal(waitpid(parent, NULL, 0), parent);
    assert_true(wait_until_gone(it->pids[0]));
    /* The rest of this tree has no bubblewrap around it that would kill it. */
    for (int i = 1; i < it->count; i++)
        kill(it->pids[i], SIGKILL);
    free(file);
}

static int count_entries(const char *path)
{
    int count = 0;
    DIR *folder = opendir(path);
    assert_non_null(folder);
    while (readdir(folder) != NULL)
        count++;
    closedir(folder);
    return count;
}

static void no_descriptors_and_no_files_are_left(void **state)
{
    fixture *it = *state;
    const int before = count_entries("/proc/self/fd");
    char name[32];

    start(it, 4, 4, PKB_TEST_HUNG_NS);
    pkb_ahead_move(it->ahead, 0, 4);
    for (size_t job = 0; job < 4; job++)
        wait_for_mark(it, "begun", job);
    assert_true(count_entries("/proc/self/fd") > before);
    pkb_ahead_end(it->ahead);
    it->ahead = NULL;
    assert_int_equal(count_entries("/proc/self/fd"), before);
    snprintf(name, sizeof name, "pkbench-%u", (unsigned)getuid());
    char *base = pkb_fs_join(it->folder, name);
    assert_int_equal(count_entries(base), 2); /* "." and ".." */
    free(base);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(jobs_are_built_in_order_and_not_too_far_ahead, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(what_is_not_wanted_or_passed_is_left_out, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_job_may_be_taken_out_of_turn, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nothing_runs_while_it_is_paused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nothing_begins_while_it_is_paused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_pause_does_not_count, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_runs_reaches_its_limit, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_takes_too_long_is_killed_and_not_tried_again, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(who_is_waited_for_has_the_callers_priority, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(it_dies_with_its_parent, set_up, tear_down),
        cmocka_unit_test_setup_teardown(no_descriptors_and_no_files_are_left, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
