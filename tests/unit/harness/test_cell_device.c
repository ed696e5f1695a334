/* SPDX-License-Identifier: Apache-2.0
 *
 * Cells with kernels, without a judge: tests/e2e/attempts/ring.cu through nvcc and the translator.
 * Skipped where there is no nvcc.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <stdlib.h>

#include "base/fs.h"
#include "tests/unit/harness/cell_world.h"
#include "tests/unit/harness/ring_layout.h"

enum { CORRECT, NO_BARRIER_BEFORE, NO_BARRIER_AFTER, BEYOND_THE_END, LOST_SIGNAL, SPIN };

static char *root;
static char folder[] = "/tmp/pkb-test-ring-XXXXXX";
static char cell_path[4096], library_path[4096], host_path[4096], device_path[4096];
static bool has_attempt;

/* Input values differ between ranks, slots and elements; staged ones are their negatives. */
static void fill(cell_world *world, int64_t mode)
{
    for (uint32_t r = 0; r < RANKS; r++) {
        pkb_slot_values *values = world->ranks[r].values_region.address;
        for (uint32_t slot = 0; slot < SLOTS && values != NULL; slot++) {
            values[slot].scalars[MODE] = (uint64_t)mode;
            float *in = cell_argument(world, r, slot, IN);
            float *staged = cell_staged(world, r, slot, IN);
            for (int i = 0; i < ELEMENTS; i++) {
                in[i] = (float)(1 + r * 10000 + slot * 1000 + (uint32_t)i);
                staged[i] = -in[i];
            }
        }
    }
}

static void start(cell_world *world, int64_t mode)
{
    pkb_layout *layout;
    pkb_error err = {0};

    if (!has_attempt || access(cell_path, X_OK) != 0)
        skip();
    layout = calloc(1, sizeof *layout);
    assert_non_null(layout);
    describe(layout);
    *world = (cell_world){.cell = cell_path,
                          .libraries = library_path,
                          .host = host_path,
                          .device = device_path,
                          .level = PKB_SANDBOX_FULL};
    if (cell_world_make(world, layout, &err) != PKB_OK || cell_world_start(world, &err) != PKB_OK)
        fail_msg("%s", err.message);
    free(layout);
    fill(world, mode);
    const pkb_command commands[] = {PKB_COMMAND_LOAD, PKB_COMMAND_SETUP};
    for (int i = 0; i < 2; i++) {
        assert_true(cell_world_command(world, commands[i], 0, PKB_TEST_HUNG_NS));
        for (uint32_t r = 0; r < RANKS; r++) {
            if (cell_page(world, r)->answer != PKB_ANSWER_OK)
                fail_msg("rank %u: %s", r, cell_page(world, r)->text);
        }
    }
}

/* Elements that a chain got wrong, over all ranks and slots. */
static int chain(int64_t mode)
{
    cell_world world;
    int wrong = 0;

    start(&world, mode);
    for (uint32_t i = 0; i < SLOTS; i++)
        cell_page(&world, i % RANKS)->delay_ns[i] = 30 * PKB_NS_PER_MS;
    assert_true(cell_world_command(&world, PKB_COMMAND_CHAIN, SLOTS, PKB_TEST_HUNG_NS));
    for (uint32_t r = 0; r < RANKS; r++) {
        if (cell_page(&world, r)->answer != PKB_ANSWER_OK)
            fail_msg("rank %u: %s", r, cell_page(&world, r)->text);
        for (uint32_t slot = 0; slot < SLOTS; slot++) {
            const float *got = cell_staged(&world, r, slot, OUT);
            for (int i = 0; i < ELEMENTS; i++)
                wrong += got[i] != -(float)(1 + (1 - r) * 10000 + slot * 1000 + (uint32_t)i);
        }
    }
    cell_world_clear(&world);
    return wrong;
}

static void a_correct_attempt_passes_a_chain(void **state)
{
    (void)state;
    for (int i = 0; i < 5; i++)
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

static void a_device_fault_names_kernel_and_thread(void **state)
{
    cell_world world;
    (void)state;

    start(&world, BEYOND_THE_END);
    assert_true(cell_world_command(&world, PKB_COMMAND_RUN, 1, PKB_TEST_HUNG_NS));
    for (uint32_t r = 0; r < RANKS; r++) {
        const pkb_page *page = cell_page(&world, r);
        assert_int_equal(page->answer, PKB_ANSWER_CUDA_ERROR);
        assert_int_not_equal(page->cuda_error, 0);
        assert_string_equal(page->fault_kind, "illegal address");
        assert_int_not_equal(page->fault.counter, 0);
        assert_non_null(strstr(page->fault.kernel, "misbehave"));
    }
    cell_world_clear(&world);
}

static void a_lost_signal_is_a_trap_not_a_hang(void **state)
{
    cell_world world;
    (void)state;

    start(&world, LOST_SIGNAL);
    assert_true(cell_world_command(&world, PKB_COMMAND_RUN, 1, PKB_TEST_HUNG_NS));
    assert_int_equal(cell_page(&world, 0)->answer, PKB_ANSWER_CUDA_ERROR);
    assert_string_equal(cell_page(&world, 0)->fault_kind, "trap");
    cell_world_clear(&world);
}

static bool is_waiting(const volatile pkb_page *page)
{
    return page->waiting.counter != 0 && page->waiting.kernel[0] != '\0';
}

static void a_spinning_kernel_shows_where_it_waits(void **state)
{
    const uint64_t deadline_ns = pkb_clock_now_ns() + PKB_TEST_HUNG_NS;
    cell_world world;
    (void)state;

    start(&world, SPIN);
    assert_false(cell_world_command(&world, PKB_COMMAND_RUN, 1, 0));
    const pkb_page *page = cell_page(&world, 0);
    while (!is_waiting(page) && pkb_clock_left_ns(deadline_ns) > 0)
        pkb_clock_sleep_ns(PKB_NS_PER_MS);
    assert_true(page->phase == PKB_PHASE_RUN || page->phase == PKB_PHASE_SYNCHRONISE);
    assert_int_not_equal(page->waiting.counter, 0);
    assert_non_null(strstr(page->waiting.kernel, "misbehave"));
    cell_world_clear(&world);
    assert_true(pkb_pidfd_ended(world.ranks[0].pidfd, 0) || world.ranks[0].child.pid == 0);
}

/* nvcc, translator, compiler: docs of the CPU device say why these flags. */
static int build_attempt(void **state)
{
    static const char script[] =
        "set -e; nvcc=$(\"$1/tools/find_nvcc.sh\"); cd \"$2\"; "
        "\"$nvcc\" -std=c++17 -lineinfo -gencode arch=compute_90a,code=compute_90a -cudart shared "
        "-shared -Xcompiler -fPIC --no-compress -keep -keep-dir . -I\"$1/harness/include\" "
        "\"$1/tests/e2e/attempts/ring.cu\" -o ring.so; "
        "\"$1/build/pkbench-ptx2c\" ring.ptx -o ring.c; "
        "gcc -O1 -std=gnu11 -w -march=x86-64-v3 -ffp-contract=off -fno-strict-aliasing -fwrapv "
        "-fPIC -shared -I\"$1/harness/cpu/device\" -I\"$1\" ring.c -o ring.device.so";
    pkb_child child = PKB_CHILD_NONE;
    pkb_child_exit how = {0};
    (void)state;

    if (pkb_fs_root(&root, NULL) != PKB_OK)
        root = realpath(".", NULL);
    if (mkdtemp(folder) == NULL)
        return -1;
    snprintf(cell_path, sizeof cell_path, "%s/build/pkbench-cell", root);
    snprintf(library_path, sizeof library_path, "%s/build/lib", root);
    snprintf(host_path, sizeof host_path, "%s/ring.so", folder);
    snprintf(device_path, sizeof device_path, "%s/ring.device.so", folder);
    const char *const argv[] = {"bash", "-c", script, "build", root, folder, NULL};
    const pkb_child_options options = {
        .argv = argv, .stdin_fd = -1, .stdout_fd = -1, .stderr_fd = STDERR_FILENO};
    has_attempt = pkb_child_start(&child, &options, NULL) == PKB_OK &&
                  pkb_child_wait(&child, PKB_TEST_HUNG_NS, &how, NULL) == PKB_OK && how.exited &&
                  how.status == 0;
    pkb_child_kill(&child);
    return 0;
}

static int remove_attempt(void **state)
{
    (void)state;
    pkb_fs_remove_tree(folder, NULL);
    free(root);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_correct_attempt_passes_a_chain),
        cmocka_unit_test(a_chain_shows_a_missing_barrier_before),
        cmocka_unit_test(a_chain_shows_a_missing_barrier_after),
        cmocka_unit_test(a_device_fault_names_kernel_and_thread),
        cmocka_unit_test(a_lost_signal_is_a_trap_not_a_hang),
        cmocka_unit_test(a_spinning_kernel_shows_where_it_waits),
    };
    return cmocka_run_group_tests(tests, build_attempt, remove_attempt);
}
