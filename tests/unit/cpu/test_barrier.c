/* SPDX-License-Identifier: Apache-2.0
 *
 * Barriers, warp collectives and scheduling, with kernels written by hand. A fault is sticky for
 * the process, so each test that provokes one runs in a child.
 */
#include "harness/cpu/device/fault.h"
#include "harness/cpu/device/fiber.h"
#include "harness/cpu/device/grid.h"
#include "harness/cpu/device/window.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static uint32_t out[4096], word[64];
static const char *const files[] = {"", "kernel.cu"};
static const pkb_device_module_info module = {.version = 1, .files = files, .file_count = 2};

static pkb_grid_outcome run_limited(void (*entry)(pkb_thread *, const uint8_t *), uint32_t blocks,
                                    uint32_t threads, uint64_t resident)
{
    pkb_kernel_info kernel = {.name = "_Z6kernelv", .entry = entry};
    pkb_launch launch = {.kernel = &kernel,
                         .module = &module,
                         .grid = {blocks, 1, 1},
                         .block = {threads, 1, 1},
                         .resident_limit = resident};
    pkb_grid_outcome outcome = PKB_GRID_IDLE;

    memset(out, 0, sizeof out);
    memset(word, 0, sizeof word);
    pkb_grid *grid = pkb_grid_create(&launch);
    assert_non_null(grid);
    for (int i = 0; i < 1000 && outcome == PKB_GRID_IDLE; i++)
        outcome = pkb_grid_run(grid);
    pkb_grid_free(grid);
    return outcome;
}

static pkb_grid_outcome run(void (*entry)(pkb_thread *, const uint8_t *), uint32_t blocks,
                            uint32_t threads)
{
    return run_limited(entry, blocks, threads, 132);
}

/* Runs in a child and gives the fault's kind, with its message in `message`. */
static char message[512];

static int fault_of(void (*entry)(pkb_thread *, const uint8_t *), uint32_t threads)
{
    int channel[2], status = 0;
    pkb_cpu_fault fault = {0};

    assert_int_equal(pipe(channel), 0);
    pid_t child = fork();
    if (child == 0) {
        (void)run(entry, 1, threads);
        if (pkb_cpu_last_fault() != NULL)
            fault = *pkb_cpu_last_fault();
        _exit(write(channel[1], &fault, sizeof fault) != sizeof fault);
    }
    assert_int_equal(read(channel[0], &fault, sizeof fault), sizeof fault);
    assert_int_equal(waitpid(child, &status, 0), child);
    close(channel[0]);
    close(channel[1]);
    memcpy(message, fault.message, sizeof message);
    return (int)fault.kind;
}

/* ---- block barriers ---- */

static void reverse(pkb_thread *t, const uint8_t *params)
{
    uint32_t *shared = (uint32_t *)(uintptr_t)(pkb_shared_range + t->shared_base + 1024);

    (void)params;
    shared[t->tid[0]] = t->tid[0];
    pkb_bar_sync(t, 0, 0);
    out[t->ctaid[0] * t->ntid[0] + t->tid[0]] = shared[t->ntid[0] - 1 - t->tid[0]];
}

static void barrier_orders_shared_memory(void **state)
{
    (void)state;
    assert_int_equal(run(reverse, 4, 1000), PKB_GRID_DONE);
    for (uint32_t i = 0; i < 4000; i++)
        assert_int_equal(out[i], 999 - i % 1000);
    assert_int_equal(pkb_stack_taken_count(), 0);
}

static void half_leaves(pkb_thread *t, const uint8_t *params)
{
    (void)params;
    if (t->tid[0] % 2 == 1)
        return;
    pkb_bar_sync(t, 0, 0);
    out[t->tid[0]] = 1;
}

static void exit_completes_a_barrier_without_count(void **state)
{
    (void)state;
    assert_int_equal(run(half_leaves, 1, 256), PKB_GRID_DONE);
    assert_int_equal(out[254], 1);
}

static void produce_consume(pkb_thread *t, const uint8_t *params)
{
    (void)params;
    for (uint32_t round = 0; round < 20; round++) {
        if (t->warp == 0) {
            word[t->lane] = round * 32 + t->lane;
            pkb_bar_arrive(t, 1, 64);
            pkb_bar_sync(t, 2, 64);
        } else {
            pkb_bar_sync(t, 1, 64);
            out[t->lane] += word[31 - t->lane];
            pkb_bar_arrive(t, 2, 64);
        }
    }
}

static void arrive_and_sync_pair_up(void **state)
{
    (void)state;
    assert_int_equal(run(produce_consume, 1, 64), PKB_GRID_DONE);
    for (uint32_t lane = 0; lane < 32; lane++)
        assert_int_equal(out[lane], 32 * 190 + 20 * (31 - lane));
}

static void reduce_barrier(pkb_thread *t, const uint8_t *params)
{
    (void)params;
    uint32_t i = t->tid[0];
    out[i] = pkb_bar_red(t, PKB_BAR_POPC, 0, 0, i % 3 == 0);
    out[i] += pkb_bar_red(t, PKB_BAR_OR, 0, 0, i == 5) << 16;
    out[i] += pkb_bar_red(t, PKB_BAR_AND, 0, 0, i != 5) << 17;
}

static void reductions_over_a_barrier(void **state)
{
    (void)state;
    assert_int_equal(run(reduce_barrier, 1, 100), PKB_GRID_DONE);
    for (uint32_t i = 0; i < 100; i++)
        assert_int_equal(out[i], 34 + (1 << 16));
}

static void wrong_count(pkb_thread *t, const uint8_t *params)
{
    (void)params;
    t->line = 7;
    pkb_bar_sync(t, 3, 96);
}

static void too_few_arrivals_are_a_deadlock(void **state)
{
    (void)state;
    assert_int_equal(fault_of(wrong_count, 64), PKB_CPU_FAULT_DEADLOCK);
    assert_non_null(strstr(message, "64 of 96 at barrier 3"));
}

/* ---- warps ---- */

static void butterfly(pkb_thread *t, const uint8_t *params)
{
    uint32_t value = t->tid[0], in_range = 0;

    (void)params;
    for (uint32_t i = 16; i > 0; i /= 2)
        value += pkb_shfl(t, PKB_SHFL_BFLY, value, i, 31, ~0u, &in_range);
    out[t->tid[0]] = value;
    out[100 + t->tid[0]] = pkb_shfl(t, PKB_SHFL_UP, t->lane, 1, 0, ~0u, &in_range) + in_range * 64;
    out[200 + t->tid[0]] =
        pkb_shfl(t, PKB_SHFL_DOWN, t->lane, 3, 31 | 24 << 8, ~0u, &in_range) + in_range * 64;
}

static void shuffles_follow_the_isa(void **state)
{
    (void)state;
    assert_int_equal(run(butterfly, 1, 64), PKB_GRID_DONE);
    for (uint32_t i = 0; i < 64; i++) {
        uint32_t lane = i % 32;
        assert_int_equal(out[i], i < 32 ? 496 : 496 + 1024);
        assert_int_equal(out[100 + i], lane == 0 ? 0 : lane - 1 + 64);
        bool in_segment = lane % 8 + 3 < 8;
        assert_int_equal(out[200 + i], in_segment ? lane + 3 + 64 : lane);
    }
}

/* Both halves hold the pending operation of their own mask, which overlaps nothing. */
static void two_masks(pkb_thread *t, const uint8_t *params)
{
    (void)params;
    uint32_t mask = t->lane % 2 == 0 ? 0x55555555u : 0xaaaaaaaau;
    out[t->lane] = pkb_redux(t, PKB_REDUX_ADD, t->lane, mask);
    out[32 + t->lane] = pkb_vote(t, PKB_VOTE_BALLOT, t->lane < 8, mask);
    out[64 + t->lane] = pkb_match_any(t, t->lane / 8, mask);
}

static void masks_that_are_pending_together_do_not_mix(void **state)
{
    (void)state;
    assert_int_equal(run(two_masks, 1, 32), PKB_GRID_DONE);
    for (uint32_t lane = 0; lane < 32; lane++) {
        assert_int_equal(out[lane], lane % 2 == 0 ? 240 : 256);
        assert_int_equal(out[32 + lane], lane % 2 == 0 ? 0x55 : 0xaa);
        assert_int_equal(out[64 + lane], (lane % 2 == 0 ? 0x55u : 0xaau) << lane / 8 * 8);
    }
}

static void exited_lanes(pkb_thread *t, const uint8_t *params)
{
    (void)params;
    if (t->lane >= 20)
        return;
    out[t->lane] = pkb_vote(t, PKB_VOTE_BALLOT, 1, ~0u);
}

static void lanes_that_left_or_never_were_do_not_block(void **state)
{
    (void)state;
    assert_int_equal(run(exited_lanes, 1, 32), PKB_GRID_DONE);
    assert_int_equal(out[0], 0xfffff);
    assert_int_equal(run(exited_lanes, 1, 10), PKB_GRID_DONE);
    assert_int_equal(out[0], 0x3ff);
}

static void active(pkb_thread *t, const uint8_t *params)
{
    (void)params;
    if (t->lane % 4 == 1)
        out[t->lane] = pkb_activemask(t, 1);
    else
        out[t->lane] = pkb_activemask(t, 2);
    out[32 + t->lane] = pkb_activemask(t, 3);
}

static void activemask_is_the_taken_side(void **state)
{
    (void)state;
    assert_int_equal(run(active, 1, 32), PKB_GRID_DONE);
    assert_int_equal(out[1], 0x22222222);
    assert_int_equal(out[2], ~0x22222222u);
    assert_int_equal(out[32], ~0u);
}

static void outside_its_mask(pkb_thread *t, const uint8_t *params)
{
    (void)params;
    pkb_warp_sync(t, 0xffff);
}

static void mixed_operations(pkb_thread *t, const uint8_t *params)
{
    (void)params;
    if (t->lane < 16)
        pkb_warp_sync(t, ~0u);
    else
        (void)pkb_vote(t, PKB_VOTE_ANY, 1, ~0u);
}

static void misused_masks_are_faults(void **state)
{
    (void)state;
    assert_int_equal(fault_of(outside_its_mask, 32), PKB_CPU_FAULT_LANE_MASK);
    assert_int_equal(fault_of(mixed_operations, 32), PKB_CPU_FAULT_LANE_MASK);
}

/* ---- blocks and grids ---- */

static void wait_for_all_blocks(pkb_thread *t, const uint8_t *params)
{
    (void)params;
    __atomic_fetch_add(&word[0], 1, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(&word[0], __ATOMIC_SEQ_CST) < t->nctaid[0] * t->ntid[0])
        pkb_yield(t);
    out[t->ctaid[0]] = 1;
}

static void spinning_blocks_widen_to_the_resident_limit(void **state)
{
    (void)state;
    assert_int_equal(run_limited(wait_for_all_blocks, 64, 32, 64), PKB_GRID_DONE);
    assert_int_equal(out[63], 1);
    assert_int_equal(run_limited(wait_for_all_blocks, 64, 32, 63), PKB_GRID_IDLE);
    assert_int_equal(pkb_stack_taken_count(), 0);
}

static void bad_write(pkb_thread *t, const uint8_t *params)
{
    (void)params;
    t->file = 1;
    t->line = 42;
    if (t->tid[0] == 3)
        *(volatile int *)(uintptr_t)(pkb_window_base + pkb_window_delta + 123456) = 1;
    pkb_bar_sync(t, 0, 0);
}

static void bad_accesses_become_faults(void **state)
{
    (void)state;
    assert_int_equal(fault_of(bad_write, 64), PKB_CPU_FAULT_ADDRESS);
    assert_non_null(strstr(message, "write at 0x"));
}

static int recurse(volatile int *depth)
{
    volatile char frame[512];

    frame[0] = (char)*depth;
    *depth = *depth + 1;
    if (*depth > 1 << 20)
        return 0;
    return recurse(depth) + frame[0];
}

static void endless_recursion(pkb_thread *t, const uint8_t *params)
{
    volatile int depth = 0;

    (void)params;
    out[t->tid[0]] = (uint32_t)recurse(&depth);
}

static void stack_overflow_is_a_fault(void **state)
{
    (void)state;
    assert_int_equal(fault_of(endless_recursion, 1), PKB_CPU_FAULT_ADDRESS);
    assert_non_null(strstr(message, "stack overflow"));
}

static int open_device(void **state)
{
    (void)state;
    return pkb_window_open(NULL) != PKB_OK;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        /* First: cmocka sets its own handlers for each test, ours are set once a process. */
        cmocka_unit_test(bad_accesses_become_faults),
        cmocka_unit_test(stack_overflow_is_a_fault),
        cmocka_unit_test(barrier_orders_shared_memory),
        cmocka_unit_test(exit_completes_a_barrier_without_count),
        cmocka_unit_test(arrive_and_sync_pair_up),
        cmocka_unit_test(reductions_over_a_barrier),
        cmocka_unit_test(too_few_arrivals_are_a_deadlock),
        cmocka_unit_test(shuffles_follow_the_isa),
        cmocka_unit_test(masks_that_are_pending_together_do_not_mix),
        cmocka_unit_test(lanes_that_left_or_never_were_do_not_block),
        cmocka_unit_test(activemask_is_the_taken_side),
        cmocka_unit_test(misused_masks_are_faults),
        cmocka_unit_test(spinning_blocks_widen_to_the_resident_limit),
    };
    return cmocka_run_group_tests(tests, open_device, NULL);
}
