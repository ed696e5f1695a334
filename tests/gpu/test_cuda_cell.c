/* SPDX-License-Identifier: Apache-2.0
 *
 * Cells on two GPUs, without judges: what works in them, what does not, and that it is the right
 * thing that does not. Skipped where there are fewer than two GPUs.
 */
#include <signal.h>

#include "tests/gpu/cuda_cell.h"

/* ---- an attempt that uses its peers ---- */

/* Elements that a chain got wrong, over all ranks and slots. */
static int chain(int64_t mode)
{
    gpu_world world;
    float got[ELEMENTS] = {0};
    int wrong = 0;

    start(&world, "ring", mode);
    for (uint32_t i = 0; i < SLOTS; i++)
        cell_page(&world.cells, i % RANKS)->delay_ns[i] = 30 * PKB_NS_PER_MS;
    command(&world, PKB_COMMAND_CHAIN, SLOTS);
    expect_ok(&world);
    for (uint32_t r = 0; r < RANKS; r++) {
        for (uint32_t slot = 0; slot < SLOTS; slot++) {
            assert_true(gpu_read(
                &world, r, got, gpu_argument(&world, &world.staging[r], r, slot, OUT), sizeof got));
            for (int i = 0; i < ELEMENTS; i++)
                wrong += got[i] != -input(1 - r, slot, i);
        }
    }
    command(&world, PKB_COMMAND_TEARDOWN, 0);
    expect_ok(&world);
    gpu_world_clear(&world);
    return wrong;
}

static void a_correct_attempt_passes_a_chain(void **state)
{
    (void)state;
    assert_int_equal(chain(CORRECT), 0);
}

static void a_chain_shows_a_missing_barrier_before(void **state)
{
    (void)state;
    assert_true(chain(NO_BARRIER_BEFORE) > 0);
}

static void a_chain_shows_a_missing_barrier_after(void **state)
{
    (void)state;
    assert_true(chain(NO_BARRIER_AFTER) > 0);
}

static uint64_t shortest_ns(gpu_world *world, pkb_command what, uint32_t calls)
{
    uint64_t best_ns = UINT64_MAX;

    for (int i = 0; i < 50; i++) {
        const uint64_t start_ns = pkb_clock_now_ns();
        command(world, what, calls);
        const uint64_t took_ns = pkb_clock_now_ns() - start_ns;
        best_ns = took_ns < best_ns ? took_ns : best_ns;
    }
    return best_ns;
}

static void a_run_reads_the_peer_and_is_quick(void **state)
{
    gpu_world world;
    float got[ELEMENTS] = {0};
    (void)state;

    start(&world, "ring", CORRECT);
    const uint64_t claim_ns = shortest_ns(&world, PKB_COMMAND_CLAIM, 0);
    const uint64_t run_ns = shortest_ns(&world, PKB_COMMAND_RUN, SLOTS);
    expect_ok(&world);
    print_message("claim %.1f us, run of %d rings %.1f us\n", (double)claim_ns / 1e3, SLOTS,
                  (double)run_ns / 1e3);
    for (uint32_t r = 0; r < RANKS; r++) {
        for (uint32_t slot = 0; slot < SLOTS; slot++) {
            assert_true(gpu_read(&world, r, got,
                                 gpu_argument(&world, &world.slots[r], r, slot, OUT), sizeof got));
            for (int i = 0; i < ELEMENTS; i++)
                assert_true(got[i] == input(1 - r, slot, i));
        }
    }
    gpu_world_clear(&world);
}

/* ---- the runtime after the filter ---- */

static void ordinary_attempts_do_not_notice_the_filter(void **state)
{
    gpu_world world;
    (void)state;

    start(&world, "tour", TOUR);
    for (int i = 0; i < 3; i++) {
        command(&world, PKB_COMMAND_RUN, 1);
        expect_ok(&world);
    }
    command(&world, PKB_COMMAND_EXIT, 0);
    for (uint32_t r = 0; r < RANKS; r++) {
        pkb_child_exit how = {0};
        assert_int_equal(cell_wait(&world.cells.ranks[r], &how, NULL), PKB_OK);
        assert_true(how.exited && how.status == 0);
    }
    gpu_world_clear(&world);
}

/* How rank 0's cell ends when both run `mode`. */
static pkb_child_exit end_of(int64_t mode, gpu_world *world)
{
    pkb_child_exit how = {0};

    start(world, "tour", mode);
    cell_world_command(&world->cells, PKB_COMMAND_RUN, 1, 2 * PKB_NS_PER_S);
    assert_int_equal(cell_wait(&world->cells.ranks[0], &how, NULL), PKB_OK);
    return how;
}

static void forbidden_calls_still_kill_after_cuda_started(void **state)
{
    static const struct {
        int64_t mode;
        const char *name;
    } cases[] = {{FORK, "fork"}, {SOCKET, "socket"}};
    (void)state;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        gpu_world world;
        pkb_child_exit how = end_of(cases[i].mode, &world);
        assert_false(how.exited);
        assert_int_equal(how.signal, SIGSYS);
        assert_string_equal(cell_page(&world.cells, 0)->text, cases[i].name);
        gpu_world_clear(&world);
    }
}

static void a_host_dereference_is_named(void **state)
{
    gpu_world world;
    (void)state;

    pkb_child_exit how = end_of(HOST_FAULT, &world);
    assert_int_equal(how.signal, SIGSEGV);
    assert_string_equal(cell_page(&world.cells, 0)->fault_kind, "host fault");
    gpu_world_clear(&world);
}

/* ---- faults of kernels ---- */

static void expect_fault(const char *attempt, int64_t mode, int error, const char *kind)
{
    gpu_world world;

    start(&world, attempt, mode);
    command(&world, PKB_COMMAND_RUN, 1);
    const pkb_page *page = cell_page(&world.cells, 0);
    print_message("mode %d: %d, %s: %s\n", (int)mode, page->cuda_error, page->fault_kind,
                  page->text);
    assert_int_equal(page->cuda_error, error);
    assert_string_equal(page->fault_kind, kind);
    gpu_world_clear(&world);
}

static void faults_are_named(void **state)
{
    (void)state;
    expect_fault("ring", BEYOND_THE_END, 700, "illegal address");
    expect_fault("tour", MISALIGNED, 716, "misaligned address");
    expect_fault("tour", ASSERT, 710, "assert");
    expect_fault("tour", TRAP, 719, "trap");
    expect_fault("ring", LOST_SIGNAL, 719, "trap");
}

static void a_refused_launch_is_named(void **state)
{
    gpu_world world;
    (void)state;

    start(&world, "tour", BAD_LAUNCH);
    command(&world, PKB_COMMAND_RUN, 1);
    print_message("bad launch: returned %d, %d %s\n", cell_page(&world.cells, 0)->return_value,
                  cell_page(&world.cells, 0)->cuda_error, cell_page(&world.cells, 0)->text);
    assert_int_equal(cell_page(&world.cells, 0)->answer, PKB_ANSWER_RETURNED);
    assert_int_not_equal(cell_page(&world.cells, 0)->return_value, 0);
    gpu_world_clear(&world);
}

static void a_hanging_kernel_dies_with_its_cell(void **state)
{
    gpu_world world;
    enum { NOISE_BYTES = 1 << 20 }; /* of this process's own context */
    size_t free_before = 0, free_after = 0, total = 0;
    (void)state;

    if (gpu_count < RANKS || !is_built)
        skip();
    pkb_driver_use(driver, 0, NULL);
    driver->MemGetInfo(&free_before, &total);
    start(&world, "tour", HANG);
    assert_false(cell_world_command(&world.cells, PKB_COMMAND_RUN, 1, PKB_NS_PER_S));
    const uint64_t start_ns = pkb_clock_now_ns();
    gpu_world_clear(&world);
    pkb_driver_use(driver, 0, NULL);
    do {
        driver->MemGetInfo(&free_after, &total);
    } while (free_after + NOISE_BYTES < free_before &&
             pkb_clock_now_ns() - start_ns < 5 * PKB_NS_PER_S);
    print_message("memory is back %.0f ms after the kill\n",
                  (double)(pkb_clock_now_ns() - start_ns) / 1e6);
    assert_true(free_after + NOISE_BYTES >= free_before);
}

static void the_restricted_level_runs_kernels_too(void **state)
{
    (void)state;
    level = PKB_SANDBOX_RESTRICTED;
    int wrong = chain(CORRECT);
    level = PKB_SANDBOX_FULL;
    assert_int_equal(wrong, 0);
}

/* ---- the sandbox ---- */

static int run_in_sandbox(const pkb_sandbox_gpus *gpus, const char *const *words)
{
    const pkb_sandbox_bind binds[] = {{.from = cell_path, .to = "/pkb/pkbench-cell"}};
    const pkb_sandbox_spec spec = {
        .level = PKB_SANDBOX_FULL, .binds = binds, .bind_count = 1, .gpus = gpus};
    pkb_child child = PKB_CHILD_NONE;
    pkb_child_exit how = {0};
    char **argv = NULL;

    assert_int_equal(pkb_sandbox_argv(&argv, &spec, words, NULL), PKB_OK);
    const pkb_child_options options = {.argv = (const char *const *)argv,
                                       .stdin_fd = -1,
                                       .stdout_fd = STDERR_FILENO,
                                       .stderr_fd = STDERR_FILENO};
    assert_int_equal(pkb_child_start(&child, &options, NULL), PKB_OK);
    assert_int_equal(pkb_child_wait(&child, PKB_TEST_HUNG_NS, &how, NULL), PKB_OK);
    pkb_argv_free(argv);
    return how.exited ? how.status : -how.signal;
}

static void the_canary_holds_with_gpus_in_sight(void **state)
{
    const int minors[] = {machine.items[0].minor, machine.items[1].minor};
    const pkb_sandbox_gpus gpus = {
        .minors = minors, .count = 2, .driver_folder = driver ? pkb_driver_folder(driver) : NULL};
    const char *const words[] = {"/pkb/pkbench-cell", "--canary", "full", "/etc/hostname",
                                 "pkbench-nobody",    "1",        NULL};
    (void)state;

    if (gpu_count < RANKS)
        skip();
    assert_int_equal(run_in_sandbox(&gpus, words), 0);
}

static void only_the_chosen_gpus_are_there(void **state)
{
    const int minor = machine.items[1].minor;
    const pkb_sandbox_gpus gpus = {.minors = &minor, .count = 1};
    char script[256];
    const char *const words[] = {"/bin/sh", "-c", script, NULL};
    (void)state;

    if (gpu_count < RANKS)
        skip();
    snprintf(script, sizeof script,
             "ls -l /dev; test -w /dev/nvidiactl && test -w /dev/nvidia-uvm && "
             "test -w /dev/nvidia%d && ! test -e /dev/nvidia%d",
             minor, machine.items[0].minor);
    assert_int_equal(run_in_sandbox(&gpus, words), 0);
}

static int build(void **state)
{
    (void)state;
    return build_attempts("e2e/attempts/ring gpu/attempts/tour");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_the_chosen_gpus_are_there),
        cmocka_unit_test(the_canary_holds_with_gpus_in_sight),
        cmocka_unit_test(a_correct_attempt_passes_a_chain),
        cmocka_unit_test(a_chain_shows_a_missing_barrier_before),
        cmocka_unit_test(a_chain_shows_a_missing_barrier_after),
        cmocka_unit_test(a_run_reads_the_peer_and_is_quick),
        cmocka_unit_test(ordinary_attempts_do_not_notice_the_filter),
        cmocka_unit_test(forbidden_calls_still_kill_after_cuda_started),
        cmocka_unit_test(a_host_dereference_is_named),
        cmocka_unit_test(faults_are_named),
        cmocka_unit_test(a_refused_launch_is_named),
        cmocka_unit_test(a_hanging_kernel_dies_with_its_cell),
        cmocka_unit_test(the_restricted_level_runs_kernels_too),
    };
    return cmocka_run_group_tests(tests, build, remove_attempts);
}
