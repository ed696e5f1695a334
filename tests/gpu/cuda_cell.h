/* SPDX-License-Identifier: Apache-2.0
 *
 * What tests of cells on two GPUs share: a world of two ranks, and attempts that are built once for
 * the GPUs that are there.
 */
#ifndef PKB_TESTS_GPU_CUDA_CELL_H
#define PKB_TESTS_GPU_CUDA_CELL_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <limits.h>
#include <stdlib.h>

#include "base/fs.h"
#include "harness/judge/process.h"
#include "tests/gpu/gpu_world.h"
#include "tests/unit/harness/ring_layout.h"

/* tests/e2e/attempts/ring.cu and tests/gpu/attempts/tour.cu */
enum { CORRECT, NO_BARRIER_BEFORE, NO_BARRIER_AFTER, BEYOND_THE_END, LOST_SIGNAL, SPIN };
enum { TOUR, FORK, SOCKET, HOST_FAULT, MISALIGNED, ASSERT, TRAP, BAD_LAUNCH, HANG };

static char *root;
static char folder[] = "/tmp/pkb-test-gpu-XXXXXX";
static char cell_path[PATH_MAX], library_path[PATH_MAX];
static bool is_built, is_broken; /* broken: cells do not start at all */
static pkb_driver *driver;
static pkb_gpus machine;
static size_t gpu_count;
static pkb_sandbox_level level = PKB_SANDBOX_FULL;
enum { MOST_THREADS = 256 };
static pid_t first_threads[RANKS][MOST_THREADS];
static size_t first_counts[RANKS];

static inline float input(uint32_t rank, uint32_t slot, int i)
{
    return (float)(1 + rank * 10000 + slot * 1000 + (uint32_t)i);
}

/* Inputs differ between ranks, slots and elements; staged ones are their negatives. */
static inline void fill(gpu_world *world, int64_t mode)
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

static inline void command(gpu_world *world, pkb_command what, uint32_t calls)
{
    if (!cell_world_command(&world->cells, what, calls, PKB_TEST_HUNG_NS))
        fail_msg("command %d did not end: phase %u", (int)what, cell_page(&world->cells, 0)->phase);
}

static inline void expect_ok(gpu_world *world)
{
    for (uint32_t r = 0; r < RANKS; r++) {
        const pkb_page *page = cell_page(&world->cells, r);
        if (page->answer != PKB_ANSWER_OK)
            fail_msg("rank %u: answer %u, returned %d, CUDA error %d, %s: %s", r, page->answer,
                     page->return_value, page->cuda_error, page->fault_kind, page->text);
    }
}

static inline size_t threads_of(const cell_rank *rank, pid_t *ids, size_t most)
{
    const pkb_process process = {.pid = rank->pid, .pidfd = rank->pidfd};
    const size_t count = pkb_process_list_threads(&process, ids, most);

    assert_in_range(count, 1, most);
    return count;
}

/* As a judge sees them: before anything of an attempt is there. */
static inline void note_threads(gpu_world *world)
{
    command(world, PKB_COMMAND_NONE, 0);
    for (uint32_t r = 0; r < RANKS; r++)
        first_counts[r] = threads_of(&world->cells.ranks[r], first_threads[r], MOST_THREADS);
}

/* Starts both cells with an attempt that was built, up to its set-up. */
static inline void start(gpu_world *world, const char *attempt, int64_t mode)
{
    static char path[PATH_MAX];
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
    snprintf(path, sizeof path, "%s/%s.so", folder, attempt);
    *world = (gpu_world){.driver = driver};
    world->cells = (cell_world){
        .cell = cell_path, .libraries = library_path, .host = path, .level = level, .stays = true};
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

/* ---- building, once ---- */

static inline bool run_script(const char *script, const char *sources)
{
    pkb_child child = PKB_CHILD_NONE;
    pkb_child_exit how = {0};
    const char *const argv[] = {"bash", "-c", script, "build", root, folder, sources, NULL};
    const pkb_child_options options = {
        .argv = argv, .stdin_fd = -1, .stdout_fd = STDERR_FILENO, .stderr_fd = STDERR_FILENO};
    bool is_fine = pkb_child_start(&child, &options, NULL) == PKB_OK &&
                   pkb_child_wait(&child, 120 * PKB_NS_PER_S, &how, NULL) == PKB_OK && how.exited &&
                   how.status == 0;

    pkb_child_kill(&child);
    return is_fine;
}

/* `sources`: below tests/, without .cu, a space between two. X/name.cu becomes <folder>/name.so. */
static inline int build_attempts(const char *sources)
{
    static const char script[] =
        "set -e; nvcc=$(\"$1/tools/find_nvcc.sh\"); include=$(\"$1/tools/find_nvcc.sh\" "
        "--include); "
        "root=$1; cd \"$2\"; mkdir lib; "
        "for lib in \"$include/../lib64\" \"$include/../lib\" "
        "\"$include/../targets/x86_64-linux/lib\"; "
        "do if [ -e \"$lib/libcudart.so.13\" ]; then cp -L \"$lib/libcudart.so.13\" lib/; fi; "
        "done; "
        "for file in $3; do "
        "\"$nvcc\" -std=c++17 -O3 -lineinfo -arch=native -cudart none -shared -Xcompiler -fPIC "
        "-I\"$root/harness/include\" -Xlinker \"$PWD/lib/libcudart.so.13\" "
        "\"$root/tests/$file.cu\" "
        "-o \"${file##*/}.so\"; done";
    pkb_error err = {0};

    if (pkb_fs_root(&root, NULL) != PKB_OK)
        root = realpath(".", NULL);
    if (root == NULL || mkdtemp(folder) == NULL)
        return -1;
    snprintf(cell_path, sizeof cell_path, "%s/build/pkbench-cell", root);
    snprintf(library_path, sizeof library_path, "%s/lib", folder);
    if (pkb_driver_open(&driver, &err) != PKB_OK || pkb_gpus_find(&machine, driver, &err) != PKB_OK)
        print_message("no GPU here: %s\n", err.message);
    gpu_count = machine.count;
    is_built = gpu_count >= RANKS && run_script(script, sources);
    if (gpu_count >= RANKS && !is_built)
        return -1;
    return 0;
}

static inline int remove_attempts(void **state)
{
    (void)state;
    pkb_fs_remove_tree(folder, NULL);
    pkb_driver_close(driver);
    free(root);
    return 0;
}

#endif
