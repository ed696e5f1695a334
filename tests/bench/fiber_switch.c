/* SPDX-License-Identifier: Apache-2.0
 *
 * Prints the nanoseconds of one fiber switch: two stacks hand over to each other, best of five.
 */
#include <stdio.h>

#include "base/clock.h"
#include "harness/cpu/device/fiber.h"

enum { ROUNDS = 2000000, REPEATS = 5, STACK_BYTES = 16384 };

static void *main_context, *fiber_context;

static void hand_back(void *unused)
{
    (void)unused;
    for (;;)
        pkb_fiber_switch(&fiber_context, main_context);
}

int main(void)
{
    double best_ns = 1e9;
    fiber_context = pkb_fiber_prepare(pkb_stack_take(STACK_BYTES), hand_back, NULL);
    for (int repeat = 0; repeat < REPEATS; repeat++) {
        uint64_t start_ns = pkb_clock_now_ns();
        for (int i = 0; i < ROUNDS; i++)
            pkb_fiber_switch(&main_context, fiber_context);
        double each_ns = (double)(pkb_clock_now_ns() - start_ns) / (2.0 * ROUNDS);
        best_ns = each_ns < best_ns ? each_ns : best_ns;
    }
    printf("%.2f\n", best_ns);
    return 0;
}
