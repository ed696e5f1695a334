/* SPDX-License-Identifier: Apache-2.0
 *
 * Cells on two GPUs that serve one size after another, without judges. Skipped where there are
 * fewer than two GPUs.
 */
#include <signal.h>

#include "tests/gpu/cuda_cell.h"

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

    start(&world, "sizes", CORRECT);
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

    start(&world, "tour", TOUR);
    vacate(&world);
    open_another(&world, SLOTS);
    fill(&world, FORK);
    cell_world_command(&world.cells, PKB_COMMAND_RUN, 1, 2 * PKB_NS_PER_S);
    assert_int_equal(cell_wait(&world.cells.ranks[0], &how, NULL), PKB_OK);
    assert_int_equal(how.signal, SIGSYS);
    assert_string_equal(cell_page(&world.cells, 0)->text, "fork");
    gpu_world_clear(&world);
}

static int build(void **state)
{
    (void)state;
    return build_attempts("gpu/attempts/sizes gpu/attempts/tour");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_vacated_cell_serves_another_size),
        cmocka_unit_test(the_filter_of_another_size_still_holds),
    };
    return cmocka_run_group_tests(tests, build, remove_attempts);
}
