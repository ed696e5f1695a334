/* SPDX-License-Identifier: Apache-2.0
 *
 * Tests of evaluator/lane/pulse.c.
 */
#include "evaluator/lane/pulse.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

#define PAUSE_NS (2 * PKB_NS_PER_MS)

static void silence_grows_until_the_child_beats(void **state)
{
    pkb_pulse pulse;
    (void)state;

    assert_int_equal(pkb_pulse_open(&pulse, NULL), PKB_OK);
    pkb_clock_sleep_ns(PAUSE_NS);
    const uint64_t first_ns = pkb_pulse_silent_ns(&pulse);
    assert_true(first_ns >= PAUSE_NS);
    pkb_clock_sleep_ns(PAUSE_NS);
    assert_true(pkb_pulse_silent_ns(&pulse) >= first_ns + PAUSE_NS);
    const pid_t pid = fork();
    if (pid == 0) {
        pkb_pulse_beat(&pulse);
        _exit(0);
    }
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_int_equal(pkb_pulse_silent_ns(&pulse), 0);
    pkb_pulse_close(&pulse);
}

static void time_in_which_nobody_looked_counts_little(void **state)
{
    pkb_pulse pulse;
    (void)state;

    assert_int_equal(pkb_pulse_open(&pulse, NULL), PKB_OK);
    pulse.looked_ns -= 3600 * PKB_NS_PER_S;
    assert_int_equal(pkb_pulse_silent_ns(&pulse), PKB_NS_PER_S);
    pkb_pulse_listen(&pulse);
    assert_true(pkb_pulse_silent_ns(&pulse) <= PKB_NS_PER_S); /* not two */
    pkb_pulse_close(&pulse);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(silence_grows_until_the_child_beats),
        cmocka_unit_test(time_in_which_nobody_looked_counts_little),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
