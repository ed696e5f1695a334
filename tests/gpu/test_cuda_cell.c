/* SPDX-License-Identifier: Apache-2.0
 *
 * Cells on two GPUs, without judges: what works in them, what does not, and that it is the right
 * thing that does not. Skipped where there are fewer than two GPUs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>

#include "base/fs.h"
#include "harness/judge/process.h"
#include "tests/gpu/gpu_world.h"

enum { IN, OUT, MODE, OFFSETS, ELEMENTS = 1000, SLOTS = 4, RANKS = 2 };
/* tests/e2e/attempts/ring.cu and tests/gpu/attempts/tour.cu */
enum { CORRECT, NO_BARRIER_BEFORE, NO_BARRIER_AFTER, BEYOND_THE_END, LOST_SIGNAL, SPIN };
enum { TOUR, FORK, SOCKET, HOST_FAULT, MISALIGNED, ASSERT, TRAP, BAD_LAUNCH, HANG };

static char *root;
static char folder[] = "/tmp/pkb-test-gpu-XXXXXX";
static char cell_path[PATH_MAX], library_path[PATH_MAX];
static char ring_path[PATH_MAX], tour_path[PATH_MAX], sizes_path[PATH_MAX];
static bool is_built, is_broken; /* broken: cells do not start at all */
static pkb_driver *driver;
static pkb_gpus machine;
static size_t gpu_count;
static pkb_sandbox_level level = PKB_SANDBOX_FULL;
enum { MOST_THREADS = 256 };
static pid_t first_threads[RANKS][MOST_THREADS];
static size_t first_counts[RANKS];

static void describe(pkb_layout *layout)
{
    *layout = (pkb_layout){
        .world = RANKS, .argument_count = 4, .dim_count = 2, .slot_count = SLOTS, .entry_count = 1};
    const pkb_argument arguments[] = {
        {.name = "in", .role = PKB_ROLE_IN, .dtype = PKB_F32, .shape_count = 1},
        {.name = "out", .role = PKB_ROLE_OUT, .dtype = PKB_F32, .shape_count = 1},
        {.name = "mode", .role = PKB_ROLE_SCALAR, .dtype = PKB_I64},
        {.name = "offsets", .role = PKB_ROLE_HOST, .dtype = PKB_I64, .shape_count = 1}};
    memcpy(layout->arguments, arguments, sizeof arguments);
    for (uint32_t r = 0; r < RANKS; r++) {
        layout->dims[r][0] = ELEMENTS;
        for (uint32_t i = 0; i < layout->argument_count; i++) {
            layout->arguments[i].present[r] = true;
            layout->arguments[i].shape[r][0] = i == OFFSETS ? 2 : ELEMENTS;
        }
    }
}

static float input(uint32_t rank, uint32_t slot, int i)
{
    return (float)(1 + rank * 10000 + slot * 1000 + (uint32_t)i);
}

/* Inputs differ between ranks, slots and elements; staged ones are their negatives. */
static void fill(gpu_world *world, int64_t mode)
{
    float in[ELEMENTS] = {0}, staged[ELEMENTS] = {0};

    for (uint32_t r = 0; r < RANKS; r++) {
        pkb_slot_values *values = world->cells.ranks[r].values_region.address;
        for (uint32_t slot = 0; slot < world->cells.ranks[r].layout.slot_count; slot++) {
            values[slot].scalars[MODE] = (uint64_t)mode;
            for (int i = 0; i < ELEMENTS; i++) {
                in[i] = input(r, slot, i);
                staged[i] = -in[i];
            }
            assert_true(gpu_write(world, r, gpu_argument(world, &world->slots[r], r, slot, IN), in,
                                  sizeof in));
            assert_true(gpu_write(world, r, gpu_argument(world, &world->staging[r], r, slot, IN),
                                  staged, sizeof staged));
        }
    }
}

static void command(gpu_world *world, pkb_command what, uint32_t calls)
{
    if (!cell_world_command(&world->cells, what, calls, PKB_TEST_HUNG_NS))
        fail_msg("command %d did not end: phase %u", (int)what, cell_page(&world->cells, 0)->phase);
}

static void expect_ok(gpu_world *world)
{
    for (uint32_t r = 0; r < RANKS; r++) {
        const pkb_page *page = cell_page(&world->cells, r);
        if (page->answer != PKB_ANSWER_OK)
            fail_msg("rank %u: answer %u, returned %d, CUDA error %d, %s: %s", r, page->answer,
                     page->return_value, page->cuda_error, page->fault_kind, page->text);
    }
}

static size_t threads_of(const cell_rank *rank, pid_t *ids, size_t most)
{
    const pkb_process process = {.pid = rank->pid, .pidfd = rank->pidfd};
    const size_t count = pkb_process_list_threads(&process, ids, most);

    assert_in_range(count, 1, most);
    return count;
}

/* As a judge sees them: before anything of an attempt is there. */
static void note_threads(gpu_world *world)
{
    command(world, PKB_COMMAND_NONE, 0);
    for (uint32_t r = 0; r < RANKS; r++)
        first_counts[r] = threads_of(&world->cells.ranks[r], first_threads[r], MOST_THREADS);
}

static void start(gpu_world *world, const char *attempt, int64_t mode)
{
    pkb_layout *layout;
    pkb_error err = {0};

    if (gpu_count < RANKS || !is_built)
        skip();
    if (is_broken)
        fail_msg("cells do not start, as the tests before have shown");
    is_broken = true;
    layout = calloc(1, sizeof *layout);
    assert_non_null(layout);
    describe(layout);
    *world = (gpu_world){.driver = driver};
    world->cells = (cell_world){.cell = cell_path,
                                .libraries = library_path,
                                .host = attempt,
                                .level = level,
                                .stays = true};
    if (gpu_world_make(world, layout, &err) != PKB_OK)
        fail_msg("%s", err.message);
    const uint64_t start_ns = pkb_clock_now_ns();
    if (cell_world_start(&world->cells, &err) != PKB_OK)
        fail_msg("%s", err.message);
    free(layout);
    fill(world, mode);
    note_threads(world);
    command(world, PKB_COMMAND_LOAD, 0);
    expect_ok(world);
    is_broken = false;
    print_message("cells loaded after %.0f ms\n", (double)(pkb_clock_now_ns() - start_ns) / 1e6);
    command(world, PKB_COMMAND_SETUP, 0);
    expect_ok(world);
}

/* ---- an attempt that uses its peers ---- */

/* Elements that a chain got wrong, over all ranks and slots. */
static int chain(int64_t mode)
{
    gpu_world world;
    float got[ELEMENTS] = {0};
    int wrong = 0;

    start(&world, ring_path, mode);
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

    start(&world, ring_path, CORRECT);
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

    start(&world, tour_path, TOUR);
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

    start(world, tour_path, mode);
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
    expect_fault(ring_path, BEYOND_THE_END, 700, "illegal address");
    expect_fault(tour_path, MISALIGNED, 716, "misaligned address");
    expect_fault(tour_path, ASSERT, 710, "assert");
    expect_fault(tour_path, TRAP, 719, "trap");
    expect_fault(ring_path, LOST_SIGNAL, 719, "trap");
}

static void a_refused_launch_is_named(void **state)
{
    gpu_world world;
    (void)state;

    start(&world, tour_path, BAD_LAUNCH);
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
    start(&world, tour_path, HANG);
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

/* ---- one process, several sizes ---- */

static size_t free_bytes(int device)
{
    size_t free_now = 0, total = 0;

    assert_int_equal(pkb_driver_use(driver, device, NULL), PKB_OK);
    driver->MemGetInfo(&free_now, &total);
    return free_now;
}

/* Nothing of an attempt is left, so whatever is new would keep a cell from serving another size. */
static void expect_no_new_threads(const gpu_world *world, uint32_t r)
{
    pid_t now[MOST_THREADS];
    const size_t count = threads_of(&world->cells.ranks[r], now, MOST_THREADS);

    for (size_t i = 0; i < count; i++) {
        bool is_old = false;
        for (size_t k = 0; k < first_counts[r]; k++)
            is_old |= first_threads[r][k] == now[i];
        if (!is_old)
            fail_msg("rank %u: thread %d is new: %zu before, %zu now", r, (int)now[i],
                     first_counts[r], count);
    }
}

static void vacate(gpu_world *world)
{
    command(world, PKB_COMMAND_TEARDOWN, 0);
    expect_ok(world);
    const uint64_t start_ns = pkb_clock_now_ns();
    command(world, PKB_COMMAND_VACATE, 0);
    expect_ok(world);
    print_message("vacated after %.1f ms\n", (double)(pkb_clock_now_ns() - start_ns) / 1e6);
}

/* More slots than the size before: another layout, other memory. */
static void open_another(gpu_world *world, uint32_t slots)
{
    pkb_layout *layout = calloc(1, sizeof *layout);
    pkb_error err = {0};

    assert_non_null(layout);
    describe(layout);
    layout->slot_count = slots;
    if (gpu_world_remake(world, layout, &err) != PKB_OK)
        fail_msg("%s", err.message);
    free(layout);
    fill(world, CORRECT);
    const uint64_t start_ns = pkb_clock_now_ns();
    if (cell_world_open(&world->cells, &err) != PKB_OK)
        fail_msg("%s", err.message);
    command(world, PKB_COMMAND_NONE, 0);
    expect_ok(world);
    print_message("open again after %.1f ms\n", (double)(pkb_clock_now_ns() - start_ns) / 1e6);
    command(world, PKB_COMMAND_LOAD, 0);
    expect_ok(world);
    command(world, PKB_COMMAND_SETUP, 0);
    expect_ok(world);
}

static void expect_rings(gpu_world *world, uint32_t slots)
{
    float got[ELEMENTS] = {0};

    command(world, PKB_COMMAND_RUN, slots);
    expect_ok(world);
    for (uint32_t r = 0; r < RANKS; r++) {
        for (uint32_t slot = 0; slot < slots; slot++) {
            assert_true(gpu_read(world, r, got, gpu_argument(world, &world->slots[r], r, slot, OUT),
                                 sizeof got));
            for (int i = 0; i < ELEMENTS; i++)
                assert_true(got[i] == input(1 - r, slot, i));
        }
    }
}

static void a_vacated_cell_serves_another_size(void **state)
{
    enum { SIZES = 4, NOISE_BYTES = 32 << 20 };
    gpu_world world;
    size_t left[SIZES] = {0};
    (void)state;

    start(&world, sizes_path, CORRECT);
    expect_rings(&world, SLOTS);
    for (uint32_t size = 0; size < SIZES; size++) {
        vacate(&world);
        for (uint32_t r = 0; r < RANKS; r++)
            expect_no_new_threads(&world, r);
        gpu_clear_regions(&world); /* unmapped there, so that this frees it */
        left[size] = free_bytes(world.choice.indices[0]);
        print_message("size %u: %zu MiB are free\n", size, left[size] >> 20);
        assert_true(left[size] + NOISE_BYTES >= left[0]);
        if (size + 1 < SIZES) {
            open_another(&world, SLOTS + size);
            expect_rings(&world, SLOTS + size);
        }
    }
    gpu_world_clear(&world);
}

static void the_filter_of_another_size_still_holds(void **state)
{
    gpu_world world;
    pkb_child_exit how = {0};
    (void)state;

    start(&world, tour_path, TOUR);
    vacate(&world);
    open_another(&world, SLOTS);
    fill(&world, FORK);
    cell_world_command(&world.cells, PKB_COMMAND_RUN, 1, 2 * PKB_NS_PER_S);
    assert_int_equal(cell_wait(&world.cells.ranks[0], &how, NULL), PKB_OK);
    assert_int_equal(how.signal, SIGSYS);
    assert_string_equal(cell_page(&world.cells, 0)->text, "fork");
    gpu_world_clear(&world);
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

/* ---- building, once ---- */

static bool run_script(const char *script)
{
    pkb_child child = PKB_CHILD_NONE;
    pkb_child_exit how = {0};
    const char *const argv[] = {"bash", "-c", script, "build", root, folder, NULL};
    const pkb_child_options options = {
        .argv = argv, .stdin_fd = -1, .stdout_fd = STDERR_FILENO, .stderr_fd = STDERR_FILENO};
    bool is_fine = pkb_child_start(&child, &options, NULL) == PKB_OK &&
                   pkb_child_wait(&child, 120 * PKB_NS_PER_S, &how, NULL) == PKB_OK && how.exited &&
                   how.status == 0;

    pkb_child_kill(&child);
    return is_fine;
}

static int build_attempts(void **state)
{
    static const char script[] =
        "set -e; nvcc=$(\"$1/tools/find_nvcc.sh\"); include=$(\"$1/tools/find_nvcc.sh\" "
        "--include); "
        "cd \"$2\"; mkdir lib; "
        "for lib in \"$include/../lib64\" \"$include/../lib\" "
        "\"$include/../targets/x86_64-linux/lib\"; "
        "do if [ -e \"$lib/libcudart.so.13\" ]; then cp -L \"$lib/libcudart.so.13\" lib/; fi; "
        "done; "
        "for file in e2e/attempts/ring gpu/attempts/tour gpu/attempts/sizes; do "
        "\"$nvcc\" -std=c++17 -O3 -lineinfo -arch=native -cudart none -shared -Xcompiler -fPIC "
        "-I\"$1/harness/include\" -Xlinker \"$2/lib/libcudart.so.13\" \"$1/tests/$file.cu\" "
        "-o \"${file##*/}.so\"; done";
    pkb_error err = {0};
    (void)state;

    if (pkb_fs_root(&root, NULL) != PKB_OK)
        root = realpath(".", NULL);
    if (root == NULL || mkdtemp(folder) == NULL)
        return -1;
    snprintf(cell_path, sizeof cell_path, "%s/build/pkbench-cell", root);
    snprintf(library_path, sizeof library_path, "%s/lib", folder);
    snprintf(ring_path, sizeof ring_path, "%s/ring.so", folder);
    snprintf(sizes_path, sizeof sizes_path, "%s/sizes.so", folder);
    snprintf(tour_path, sizeof tour_path, "%s/tour.so", folder);
    if (pkb_driver_open(&driver, &err) != PKB_OK || pkb_gpus_find(&machine, driver, &err) != PKB_OK)
        print_message("no GPU here: %s\n", err.message);
    gpu_count = machine.count;
    is_built = gpu_count >= RANKS && run_script(script);
    if (gpu_count >= RANKS && !is_built)
        return -1;
    return 0;
}

static int remove_attempts(void **state)
{
    (void)state;
    pkb_fs_remove_tree(folder, NULL);
    pkb_driver_close(driver);
    free(root);
    return 0;
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
        cmocka_unit_test(a_vacated_cell_serves_another_size),
        cmocka_unit_test(the_filter_of_another_size_still_holds),
        cmocka_unit_test(the_restricted_level_runs_kernels_too),
    };
    return cmocka_run_group_tests(tests, build_attempts, remove_attempts);
}
