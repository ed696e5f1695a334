/* SPDX-License-Identifier: Apache-2.0
 *
 * A cell without a judge: what it promises to an attempt, and what an attempt cannot do in it.
 * Needs build/pkbench-cell, the CPU device's libcudart and a C compiler.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/fs.h"
#include "tests/unit/harness/cell_world.h"

enum { IN, OUT, SCALE, OFFSETS, ELEMENTS = 1000, SLOTS = 3, RANKS = 2 };

static char *root; /* absolute: a sandbox has another working directory */
static char cell_path[4096], library_path[4096], attempt_path[4096];

/* ---- fixture ---- */

static void describe(pkb_layout *layout)
{
    *layout = (pkb_layout){.world = RANKS,
                           .argument_count = 4,
                           .dim_count = 2,
                           .axis_count = 1,
                           .slot_count = SLOTS,
                           .entry_count = 1,
                           .axes = {{.name = "tp", .size = RANKS}},
                           .dim_drawn = {false, true}};
    const pkb_argument arguments[] = {
        {.name = "in", .role = PKB_ROLE_IN, .dtype = PKB_F32, .shape_count = 1},
        {.name = "out", .role = PKB_ROLE_OUT, .dtype = PKB_F32, .shape_count = 1},
        {.name = "scale", .role = PKB_ROLE_SCALAR, .dtype = PKB_F64},
        {.name = "offsets", .role = PKB_ROLE_HOST, .dtype = PKB_I64, .shape_count = 1}};
    memcpy(layout->arguments, arguments, sizeof arguments);
    for (uint32_t r = 0; r < RANKS; r++) {
        layout->dims[r][0] = ELEMENTS;
        layout->dims[r][1] = 77;
        for (uint32_t i = 0; i < layout->argument_count; i++) {
            layout->arguments[i].present[r] = true;
            layout->arguments[i].shape[r][0] = i == OFFSETS ? 2 : ELEMENTS;
        }
    }
}

static void fill(cell_world *world)
{
    for (uint32_t r = 0; r < RANKS; r++) {
        pkb_slot_values *values = world->ranks[r].values_region.address;
        for (uint32_t slot = 0; slot < world->ranks[r].layout.slot_count && values != NULL;
             slot++) {
            const double scale = 0.25;
            int64_t *offsets = (void *)((char *)world->ranks[r].host.address +
                                        slot * world->ranks[r].layout.slot_stride +
                                        world->ranks[r].layout.arguments[OFFSETS].offset);
            memcpy(&values[slot].scalars[SCALE], &scale, sizeof scale);
            values[slot].dims[1] = 33;
            offsets[0] = 4;
            offsets[1] = 5;
            float *in = cell_argument(world, r, slot, IN);
            float *staged = cell_staged(world, r, slot, IN);
            for (int i = 0; i < ELEMENTS; i++) {
                in[i] = (float)(r * 10000 + slot * 1000 + (uint32_t)i);
                staged[i] = -in[i];
            }
        }
    }
}

static void build_attempt(const char *what)
{
    char define[64], source[4200], cudart[4200];
    pkb_child child = PKB_CHILD_NONE;
    pkb_child_exit how;
    pkb_error err = {0};

    snprintf(define, sizeof define, "-DDO=%s", what);
    snprintf(source, sizeof source, "%s/tests/unit/harness/attempt_for_cell.c", root);
    snprintf(cudart, sizeof cudart, "%s/libcudart.so.13", library_path);
    const char *const argv[] = {"cc",   "-shared", "-fPIC", "-O1",        "-w", define,
                                source, cudart,    "-o",    attempt_path, NULL};
    const pkb_child_options options = {
        .argv = argv, .stdin_fd = -1, .stdout_fd = -1, .stderr_fd = STDERR_FILENO};
    assert_int_equal(pkb_child_start(&child, &options, &err), PKB_OK);
    assert_int_equal(pkb_child_wait(&child, PKB_TEST_HUNG_NS, &how, &err), PKB_OK);
    assert_true(how.exited && how.status == 0);
}

/* Cells may stay where there is no sandbox, as on the CPU with a judge. */
static void start(cell_world *world, const char *what, pkb_sandbox_level level)
{
    pkb_layout *layout;
    pkb_error err = {0};

    if (access(cell_path, X_OK) != 0)
        skip(); /* a build elsewhere, e.g. with sanitizers, which a filter cannot serve */
    build_attempt(what);
    layout = calloc(1, sizeof *layout);
    assert_non_null(layout);
    describe(layout);
    *world = (cell_world){.cell = cell_path,
                          .libraries = library_path,
                          .host = attempt_path,
                          .device = NULL,
                          .level = level,
                          .stays = level == PKB_SANDBOX_NONE};
    if (cell_world_make(world, layout, &err) != PKB_OK)
        fail_msg("%s", err.message);
    free(layout);
    fill(world);
    if (cell_world_start(world, &err) != PKB_OK)
        fail_msg("%s", err.message);
}

static void expect_answer(cell_world *world, pkb_answer answer)
{
    for (uint32_t r = 0; r < RANKS; r++) {
        pkb_page *page = cell_page(world, r);
        if (page->answer != (uint32_t)answer)
            fail_msg("rank %u answers %u: returned %d, CUDA error %d, %s", r, page->answer,
                     page->return_value, page->cuda_error, page->text);
    }
}

static void step(cell_world *world, pkb_command command, uint32_t calls)
{
    if (!cell_world_command(world, command, calls, PKB_TEST_HUNG_NS))
        fail_msg("no answer; %s %s in phase %u", cell_page(world, 0)->fault_kind,
                 cell_page(world, 0)->text, cell_page(world, 0)->phase);
    expect_answer(world, PKB_ANSWER_OK);
}

static void start_and_set_up(cell_world *world, const char *what)
{
    start(world, what, PKB_SANDBOX_FULL);
    step(world, PKB_COMMAND_LOAD, 0);
    step(world, PKB_COMMAND_SETUP, 0);
}

/* ---- what works ---- */

static void expect_outputs(cell_world *world, uint32_t slots)
{
    for (uint32_t r = 0; r < RANKS; r++) {
        for (uint32_t slot = 0; slot < slots; slot++)
            assert_memory_equal(cell_argument(world, r, slot, OUT),
                                cell_argument(world, 1 - r, slot, IN), ELEMENTS * sizeof(float));
    }
}

static void run_all(pkb_sandbox_level level)
{
    cell_world world;
    pkb_child_exit how;

    start(&world, "NOTHING", level);
    step(&world, PKB_COMMAND_LOAD, 0);
    step(&world, PKB_COMMAND_SETUP, 0);
    step(&world, PKB_COMMAND_CLAIM, 0);
    step(&world, PKB_COMMAND_RUN, SLOTS);
    expect_outputs(&world, SLOTS);
    step(&world, PKB_COMMAND_TEARDOWN, 0);
    assert_true(cell_world_command(&world, PKB_COMMAND_EXIT, 0, PKB_TEST_HUNG_NS));
    for (uint32_t r = 0; r < RANKS; r++) {
        assert_int_equal(cell_wait(&world.ranks[r], &how, NULL), PKB_OK);
        assert_true(how.exited && how.status == 0);
        assert_true(pkb_pidfd_ended(world.ranks[r].pidfd, PKB_TEST_HUNG_NS));
    }
    cell_world_clear(&world);
}

static void cells_run_an_attempt_from_load_to_exit(void **state)
{
    (void)state;
    run_all(PKB_SANDBOX_FULL);
}

static void cells_run_without_a_sandbox(void **state)
{
    (void)state;
    run_all(PKB_SANDBOX_NONE);
}

static void cells_run_under_landlock(void **state)
{
    (void)state;
    run_all(PKB_SANDBOX_RESTRICTED);
}

/* More slots the second time, so that another layout has to be read. */
static void a_vacated_cell_serves_another_size(void **state)
{
    cell_world world;
    pkb_error err = {0};
    pkb_layout *layout = calloc(1, sizeof *layout);
    (void)state;

    assert_non_null(layout);
    start(&world, "NOTHING", PKB_SANDBOX_NONE);
    step(&world, PKB_COMMAND_LOAD, 0);
    step(&world, PKB_COMMAND_SETUP, 0);
    step(&world, PKB_COMMAND_RUN, SLOTS);
    expect_outputs(&world, SLOTS);
    step(&world, PKB_COMMAND_TEARDOWN, 0);
    step(&world, PKB_COMMAND_VACATE, 0);

    describe(layout);
    layout->slot_count = 2 * SLOTS;
    assert_int_equal(cell_world_remake(&world, layout, &err), PKB_OK);
    free(layout);
    fill(&world);
    assert_int_equal(cell_world_open(&world, &err), PKB_OK);
    step(&world, PKB_COMMAND_NONE, 0);
    assert_true(cell_world_command(&world, PKB_COMMAND_RUN, 1, PKB_TEST_HUNG_NS));
    expect_answer(&world, PKB_ANSWER_NO_SYMBOL); /* nothing is loaded again before LOAD */
    step(&world, PKB_COMMAND_LOAD, 0);
    step(&world, PKB_COMMAND_SETUP, 0);
    step(&world, PKB_COMMAND_RUN, 2 * SLOTS);
    expect_outputs(&world, 2 * SLOTS);
    cell_world_clear(&world);
}

static void a_cell_for_one_size_is_not_vacated(void **state)
{
    cell_world world;
    (void)state;

    start_and_set_up(&world, "NOTHING");
    step(&world, PKB_COMMAND_TEARDOWN, 0);
    assert_true(cell_world_command(&world, PKB_COMMAND_VACATE, 0, PKB_TEST_HUNG_NS));
    expect_answer(&world, PKB_ANSWER_RETURNED);
    assert_non_null(strstr(cell_page(&world, 0)->text, "for one size"));
    assert_true(cell_world_command(&world, PKB_COMMAND_EXIT, 0, PKB_TEST_HUNG_NS));
    cell_world_clear(&world);
}

/* The judge's end must end a cell that waits for another size. */
static void a_vacated_cell_ends_with_its_socket(void **state)
{
    cell_world world;
    pkb_child_exit how;
    (void)state;

    start(&world, "NOTHING", PKB_SANDBOX_NONE);
    step(&world, PKB_COMMAND_LOAD, 0);
    step(&world, PKB_COMMAND_VACATE, 0);
    close(world.ranks[0].socket_fd);
    world.ranks[0].socket_fd = -1;
    assert_int_equal(cell_wait(&world.ranks[0], &how, NULL), PKB_OK);
    assert_true(how.exited && how.status != 0);
    cell_world_clear(&world);
}

/* This attempt has no barrier: only with one rank waiting is its result defined. So the test looks
 * at one call whose peer's input was staged into place by an earlier RUN. */
static void a_chain_copies_in_and_out_and_overwrites(void **state)
{
    cell_world world;
    (void)state;

    start_and_set_up(&world, "NOTHING");
    step(&world, PKB_COMMAND_CHAIN, SLOTS);
    for (uint32_t r = 0; r < RANKS; r++) {
        for (uint32_t slot = 0; slot < SLOTS; slot++) {
            const unsigned char *in = cell_argument(&world, r, slot, IN);
            const unsigned char *out = cell_argument(&world, r, slot, OUT);
            const float *got = cell_staged(&world, r, slot, OUT);
            for (size_t i = 0; i < ELEMENTS * sizeof(float); i++)
                assert_true(in[i] == 0xb7 && out[i] == 0xb7);
            const unsigned char *guard = out + ELEMENTS * sizeof(float);
            assert_int_equal(guard[0], 0);
            uint32_t bits;
            memcpy(&bits, &got[ELEMENTS - 1], sizeof bits);
            assert_true(bits == 0xb7b7b7b7u || got[ELEMENTS - 1] != 0);
        }
    }
    cell_world_clear(&world);
}

static void a_non_zero_return_is_reported(void **state)
{
    cell_world world;
    (void)state;

    start_and_set_up(&world, "RETURN");
    assert_true(cell_world_command(&world, PKB_COMMAND_RUN, 1, PKB_TEST_HUNG_NS));
    expect_answer(&world, PKB_ANSWER_RETURNED);
    assert_int_equal(cell_page(&world, 0)->return_value, 42);
    cell_world_clear(&world);
}

static void nothing_runs_before_load(void **state)
{
    cell_world world;
    (void)state;

    start(&world, "NOTHING", PKB_SANDBOX_FULL);
    assert_true(cell_world_command(&world, PKB_COMMAND_RUN, 1, PKB_TEST_HUNG_NS));
    expect_answer(&world, PKB_ANSWER_NO_SYMBOL);
    cell_world_clear(&world);
}

static void read_only_memory_stays_so(void **state)
{
    cell_world world;
    (void)state;

    start_and_set_up(&world, "SCRIBBLE");
    step(&world, PKB_COMMAND_RUN, 1);
    cell_world_clear(&world);
}

/* ---- how cells end ---- */

static void expect_death(const char *what, int signal, const char *kind, const char *text)
{
    cell_world world;
    pkb_child_exit how;

    start_and_set_up(&world, what);
    assert_false(cell_world_command(&world, PKB_COMMAND_RUN, 1, PKB_NS_PER_S / 2));
    for (uint32_t r = 0; r < RANKS; r++) {
        pkb_page *page = cell_page(&world, r);
        assert_int_equal(cell_wait(&world.ranks[r], &how, NULL), PKB_OK);
        assert_false(how.exited);
        assert_int_equal(how.signal, signal);
        assert_int_equal(page->phase, PKB_PHASE_RUN);
        assert_string_equal(page->fault_kind, kind);
        assert_non_null(strstr(page->text, text));
    }
    cell_world_clear(&world);
}

static void fork_is_fatal_and_named(void **state)
{
    (void)state;
    expect_death("FORK", SIGSYS, "system call", "fork");
}

static void exec_is_fatal_and_named(void **state)
{
    (void)state;
    expect_death("EXEC", SIGSYS, "system call", "execve");
}

static void a_socket_is_fatal_and_named(void **state)
{
    (void)state;
    expect_death("SOCKET", SIGSYS, "system call", "socket");
}

static void a_signal_to_another_process_is_fatal(void **state)
{
    (void)state;
    expect_death("KILL", SIGSYS, "system call", "kill");
}

static void abort_arrives_as_sigabrt(void **state)
{
    (void)state;
    expect_death("CRASH", SIGABRT, "", "");
}

static void host_code_that_touches_a_device_pointer_dies(void **state)
{
    (void)state;
    expect_death("TOUCH", SIGSEGV, "host fault", "device address 0x");
}

static void wait_until_stopped(pid_t pid)
{
    const uint64_t deadline_ns = pkb_clock_now_ns() + PKB_TEST_HUNG_NS;
    char path[64], text[256] = "", mark = '?';

    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    while (mark != 'T' && pkb_clock_left_ns(deadline_ns) > 0) {
        FILE *file = fopen(path, "re");
        assert_non_null(file);
        assert_non_null(fgets(text, sizeof text, file));
        fclose(file);
        assert_int_equal(sscanf(text, "%*d (pkbench-cell) %c", &mark), 1);
    }
    assert_int_equal(mark, 'T');
}

static void signals_by_pidfd_reach_the_cell_behind_bubblewrap(void **state)
{
    cell_world world;
    pkb_child_exit how;
    (void)state;

    start_and_set_up(&world, "HANG");
    assert_int_not_equal(world.ranks[0].pid, world.ranks[0].child.pid);
    assert_int_equal(pkb_pidfd_signal(world.ranks[0].pidfd, SIGSTOP, NULL), PKB_OK);
    wait_until_stopped(world.ranks[0].pid);
    /* A stopped cell answers nothing; a continued one does. */
    assert_false(cell_world_command(&world, PKB_COMMAND_CLAIM, 0, 100 * PKB_NS_PER_MS));
    assert_int_equal(pkb_pidfd_signal(world.ranks[0].pidfd, SIGCONT, NULL), PKB_OK);
    assert_true(pkb_page_wait_done(cell_page(&world, 0), cell_page(&world, 0)->go, PKB_TEST_HUNG_NS,
                                   false));
    assert_int_equal(pkb_pidfd_signal(world.ranks[0].pidfd, SIGKILL, NULL), PKB_OK);
    assert_int_equal(cell_wait(&world.ranks[0], &how, NULL), PKB_OK);
    assert_int_equal(how.signal, SIGKILL);
    cell_world_clear(&world);
}

static void killing_the_monitor_ends_the_cell(void **state)
{
    cell_world world;
    (void)state;

    start_and_set_up(&world, "HANG");
    assert_false(cell_world_command(&world, PKB_COMMAND_RUN, 1, PKB_NS_PER_S / 10));
    pkb_child_kill(&world.ranks[1].child);
    assert_true(pkb_pidfd_ended(world.ranks[1].pidfd, PKB_TEST_HUNG_NS));
    cell_world_clear(&world);
}

static int find_everything(void **state)
{
    (void)state;
    if (pkb_fs_root(&root, NULL) != PKB_OK)
        root = realpath(".", NULL);
    snprintf(cell_path, sizeof cell_path, "%s/build/pkbench-cell", root);
    snprintf(library_path, sizeof library_path, "%s/build/lib", root);
    snprintf(attempt_path, sizeof attempt_path, "/tmp/pkb-test-cell-%d.so", (int)getpid());
    return 0;
}

static int forget_everything(void **state)
{
    (void)state;
    unlink(attempt_path);
    free(root);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_run_an_attempt_from_load_to_exit),
        cmocka_unit_test(cells_run_without_a_sandbox),
        cmocka_unit_test(cells_run_under_landlock),
        cmocka_unit_test(a_vacated_cell_serves_another_size),
        cmocka_unit_test(a_cell_for_one_size_is_not_vacated),
        cmocka_unit_test(a_vacated_cell_ends_with_its_socket),
        cmocka_unit_test(a_chain_copies_in_and_out_and_overwrites),
        cmocka_unit_test(a_non_zero_return_is_reported),
        cmocka_unit_test(nothing_runs_before_load),
        cmocka_unit_test(read_only_memory_stays_so),
        cmocka_unit_test(fork_is_fatal_and_named),
        cmocka_unit_test(exec_is_fatal_and_named),
        cmocka_unit_test(a_socket_is_fatal_and_named),
        cmocka_unit_test(a_signal_to_another_process_is_fatal),
        cmocka_unit_test(abort_arrives_as_sigabrt),
        cmocka_unit_test(host_code_that_touches_a_device_pointer_dies),
        cmocka_unit_test(signals_by_pidfd_reach_the_cell_behind_bubblewrap),
        cmocka_unit_test(killing_the_monitor_ends_the_cell),
    };
    return cmocka_run_group_tests(tests, find_everything, forget_everything);
}
